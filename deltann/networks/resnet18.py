"""ResNet-18 for images of 32 × 32: a first convolution of 3 × 3 and no first pooling (He et al. 2016, section 4.2)."""

from deltann.networks.layers import Activation, BatchNorm, Conv, Dense, GlobalAverage, Layer, Residual
from deltann.networks.network import ImageInput, Network


def _conv(filters: int, kernel: int = 3, stride: int = 1) -> tuple[Layer, ...]:
    made = Conv(filters=filters, kernel=kernel, stride=stride, padding=kernel // 2, bias=False, initialiser="he_normal")
    return made, BatchNorm()


def _block(filters: int, stride: int, widened: bool) -> tuple[Layer, ...]:
    branch = (*_conv(filters, stride=stride), Activation(), *_conv(filters))
    shortcut = _conv(filters, kernel=1, stride=stride) if widened else ()
    return Residual(branch=branch, shortcut=shortcut), Activation()


def _stage(filters: int, stride: int) -> tuple[Layer, ...]:
    return (*_block(filters, stride, stride > 1), *_block(filters, 1, False))


RESNET18 = Network(
    name="resnet18",
    input=ImageInput(height=32, width=32, channels=3),
    layers=(
        *_conv(64),
        Activation(),
        *_stage(64, 1),
        *_stage(128, 2),
        *_stage(256, 2),
        *_stage(512, 2),
        GlobalAverage(),
        Dense(units=10),
    ),
)
