"""A neutral description built in PyTorch: its own modules with channels first, and how weights are carried there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

from deltann.networks import Network, TokenInput
from deltann.networks.layers import (
    Activation,
    BatchNorm,
    Conv,
    Dense,
    Embedding,
    Flatten,
    GlobalAverage,
    Layer,
    Pool,
    Recurrent,
    Residual,
)
from deltann.networks.network import Shape
from deltann.networks.parameters import Placed, placed
from deltann_trainer.pytorch.carry import (
    Carry,
    Place,
    conv_back,
    conv_there,
    dense_ways,
    gates_back,
    gates_there,
    swapped,
)


@dataclass
class Built:
    """A module that gives logits, and the places of its weights by their neutral names."""

    module: nn.Module | None = None
    places: dict[str, Place] = field(default_factory=dict)


class LastState(nn.Module):
    """A recurrent layer that gives what it says last."""

    def __init__(self, cell: nn.LSTM | nn.GRU) -> None:
        super().__init__()
        self.cell = cell

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[n, length, width] to [n, units]."""
        said: torch.Tensor = self.cell(x)[0]
        return said[:, -1]


class Sum(nn.Module):
    """A branch and the shortcut beside it."""

    def __init__(self, branch: nn.Module, shortcut: nn.Module) -> None:
        super().__init__()
        self.branch, self.shortcut = branch, shortcut

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Their sum."""
        found: torch.Tensor = self.branch(x) + self.shortcut(x)
        return found


_FUNCTIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid}


def build(network: Network) -> Built:
    """The module, with weights that PyTorch has drawn."""
    built = Built()
    built.module = _path(built, network, network.layers, network.input.shape, "")
    return built


def _path(built: Built, network: Network, layers: Sequence[Layer], shape: Shape, prefix: str) -> nn.Module:
    return nn.Sequential(*(_layer(built, network, one) for one in placed(network, layers, shape, prefix)))


def _layer(built: Built, network: Network, one: Placed) -> nn.Module:
    """One module; its weights are noted under their neutral names."""
    width = one.shape[-1]
    match one.layer:
        case Residual(branch=branch, shortcut=shortcut):
            return Sum(
                _path(built, network, branch, one.shape, f"{one.name}.branch."),
                _path(built, network, shortcut, one.shape, f"{one.name}.shortcut."),
            )
        case Conv() as wanted:
            conv = nn.Conv2d(width, wanted.filters, wanted.kernel, wanted.stride, wanted.padding, bias=wanted.bias)
            _note(built, f"{one.name}.kernel", conv.weight, conv_there, conv_back)
            if conv.bias is not None:
                _note(built, f"{one.name}.bias", conv.bias)
            return conv
        case BatchNorm(momentum=momentum, epsilon=epsilon):
            norm = nn.BatchNorm2d(width, eps=epsilon, momentum=1 - momentum)
            assert norm.running_mean is not None
            assert norm.running_var is not None
            tensors = (norm.weight, norm.bias, norm.running_mean, norm.running_var)
            for name, tensor in zip(("scale", "shift", "mean", "variance"), tensors, strict=True):
                _note(built, f"{one.name}.{name}", tensor)
            return norm
        case Activation(function=function):
            return _FUNCTIONS[function]()
        case Pool(kind=kind, size=size):
            return nn.MaxPool2d(size) if kind == "max" else nn.AvgPool2d(size)
        case GlobalAverage():
            return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
        case Flatten():
            return nn.Flatten()
        case Dense(units=units):
            dense = nn.Linear(width, units)
            there, back = dense_ways(one.flattened)
            _note(built, f"{one.name}.kernel", dense.weight, there, back)
            _note(built, f"{one.name}.bias", dense.bias)
            return dense
        case Embedding(width=vector):
            assert isinstance(network.input, TokenInput)
            embedding = nn.Embedding(network.input.vocabulary, vector)
            _note(built, f"{one.name}.kernel", embedding.weight)
            return embedding
        case Recurrent() as wanted:
            return LastState(_recurrent(built, one.name, width, wanted))


def _recurrent(built: Built, name: str, width: int, wanted: Recurrent) -> nn.LSTM | nn.GRU:
    if wanted.cell == "lstm":
        lstm = nn.LSTM(width, wanted.units, batch_first=True)
        _note(built, f"{name}.kernel", lstm.get_parameter("weight_ih_l0"), np.transpose, np.transpose)
        _note(built, f"{name}.recurrent", lstm.get_parameter("weight_hh_l0"), np.transpose, np.transpose)
        _note(built, f"{name}.bias", lstm.get_parameter("bias_ih_l0"))
        # PyTorch has two biases that are only ever added: two that learn would learn at twice the rate.
        nn.init.zeros_(lstm.get_parameter("bias_hh_l0"))
        lstm.get_parameter("bias_hh_l0").requires_grad_(False)
        return lstm
    gru = nn.GRU(width, wanted.units, batch_first=True)
    _note(built, f"{name}.kernel", gru.get_parameter("weight_ih_l0"), gates_there, gates_back)
    _note(built, f"{name}.recurrent", gru.get_parameter("weight_hh_l0"), gates_there, gates_back)
    built.places[f"{name}.bias"] = Place(
        (gru.get_parameter("bias_ih_l0"), gru.get_parameter("bias_hh_l0")),
        lambda both: (swapped(both[0]), swapped(both[1])),
        lambda both: np.stack([swapped(bias) for bias in both]),
    )
    return gru


def _note(built: Built, name: str, tensor: torch.Tensor, there: Carry | None = None, back: Carry | None = None) -> None:
    built.places[name] = Place(
        (tensor,),
        lambda value: (there(value) if there else value,),
        lambda values: back(values[0]) if back else values[0],
    )
