"""What the rest of DeltaNN has to know of a network before it is built."""

from __future__ import annotations

from deltann.model import ModelInfo, TensorSpec
from deltann.networks.network import ImageInput, Network


def network_info(network: Network) -> ModelInfo:
    """The description of a network with channels last, as far as its layers tell it: what recipes are made for."""
    image = isinstance(network.input, ImageInput)
    return ModelInfo(
        format="keras",
        input=TensorSpec(
            name="input",
            shape=(None, *network.input.shape),
            dtype="float32" if image else "int32",
            layout="NHWC" if image else "none",
        ),
        output=TensorSpec(name="logits", shape=(None, network.classes), dtype="float32"),
        output_kind="logits",
        classes=network.classes,
    )
