"""VGG-16 (Simonyan and Zisserman 2015, configuration D) for images of 32 × 32: batch norms, and one dense layer."""

from deltann.networks.layers import Activation, BatchNorm, Conv, Dense, Flatten, Layer, Pool
from deltann.networks.network import ImageInput, Network

_STAGES = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))
"""Filters, and convolutions before the pool."""


def _stage(filters: int, convolutions: int) -> tuple[Layer, ...]:
    one: tuple[Layer, ...] = (
        Conv(filters=filters, kernel=3, padding=1, bias=False, initialiser="he_normal"),
        BatchNorm(),
        Activation(),
    )
    return (*one * convolutions, Pool())


VGG16 = Network(
    name="vgg16",
    input=ImageInput(height=32, width=32, channels=3),
    layers=(
        *(layer for filters, convolutions in _STAGES for layer in _stage(filters, convolutions)),
        Flatten(),
        Dense(units=10),
    ),
)
