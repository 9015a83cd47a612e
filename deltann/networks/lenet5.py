"""LeNet-5 (LeCun et al. 1998) with ReLU and max pooling, as it is trained today, for digits of 28 × 28."""

from deltann.networks.layers import Activation, Conv, Dense, Flatten, Pool
from deltann.networks.network import ImageInput, Network

LENET5 = Network(
    name="lenet5",
    input=ImageInput(height=28, width=28, channels=1),
    layers=(
        Conv(filters=6, kernel=5, padding=2),
        Activation(),
        Pool(),
        Conv(filters=16, kernel=5),
        Activation(),
        Pool(),
        Flatten(),
        Dense(units=120),
        Activation(),
        Dense(units=84),
        Activation(),
        Dense(units=10),
    ),
)
