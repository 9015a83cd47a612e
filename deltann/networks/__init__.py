"""Networks as neutral descriptions, each defined once; a trainer builds them in whatever framework is asked for."""

from deltann.networks.lenet5 import LENET5
from deltann.networks.network import ImageInput, Network, TokenInput
from deltann.networks.recurrent import GRU, LSTM
from deltann.networks.resnet18 import RESNET18
from deltann.networks.vgg16 import VGG16

NETWORKS: dict[str, Network] = {one.name: one for one in (LENET5, RESNET18, VGG16, LSTM, GRU)}
"""Those that a study may name."""

__all__ = ["NETWORKS", "ImageInput", "Network", "TokenInput"]
