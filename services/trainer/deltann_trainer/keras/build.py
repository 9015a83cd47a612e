"""A neutral description built in Keras: its layers with channels last, which is the neutral layout of weights too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

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
from deltann.networks.network import Shape, after
from deltann.networks.parameters import Placed, placed


@dataclass
class Built:
    """A ``keras.Model`` that gives logits, and its variables by the neutral names of the weights."""

    model: Any = None
    variables: dict[str, Any] = field(default_factory=dict)


def build(network: Network) -> Built:
    """The model, with weights that Keras has drawn."""
    import keras

    keras.utils.clear_session()  # names would count on from what this process has built before
    dtype = "int32" if isinstance(network.input, TokenInput) else "float32"
    given = keras.Input(network.input.shape, dtype=dtype, name="input")
    built = Built()
    output = _path(built, network, network.layers, network.input.shape, "", given)
    built.model = keras.Model(given, output, name=network.name)
    return built


def _path(built: Built, network: Network, layers: Sequence[Layer], shape: Shape, prefix: str, at: Any) -> Any:
    import keras

    for one in placed(network, layers, shape, prefix):
        if isinstance(one.layer, Residual):
            branch = _path(built, network, one.layer.branch, one.shape, f"{one.name}.branch.", at)
            shortcut = _path(built, network, one.layer.shortcut, one.shape, f"{one.name}.shortcut.", at)
            at = keras.layers.Add(name=_name(one))([branch, shortcut])
        else:
            at = _layer(built, network, one, at)
    return at


def _layer(built: Built, network: Network, one: Placed, at: Any) -> Any:
    """One layer, called; its variables are noted under their neutral names."""
    import keras

    names: tuple[str, ...] = ()
    made: Any
    match one.layer:
        case Conv() as conv:
            if conv.padding and not _same(conv):
                at = keras.layers.ZeroPadding2D(conv.padding, name=f"{_name(one)}_pad")(at)
            made = keras.layers.Conv2D(
                conv.filters, conv.kernel, conv.stride, "same" if conv.padding and _same(conv) else "valid",
                use_bias=conv.bias, name=_name(one),
            )  # fmt: skip
            names = ("kernel", "bias") if conv.bias else ("kernel",)
        case BatchNorm(momentum=momentum, epsilon=epsilon):
            made = keras.layers.BatchNormalization(momentum=momentum, epsilon=epsilon, name=_name(one))
            names = ("scale", "shift", "mean", "variance")
        case Activation(function=function):
            made = keras.layers.Activation(function, name=_name(one))
        case Pool(kind="max", size=size):
            made = keras.layers.MaxPooling2D(size, name=_name(one))
        case Pool(size=size):
            made = keras.layers.AveragePooling2D(size, name=_name(one))
        case GlobalAverage():
            made = keras.layers.GlobalAveragePooling2D(name=_name(one))
        case Flatten():
            made = keras.layers.Flatten(name=_name(one))
        case Dense(units=units):
            made = keras.layers.Dense(units, name=_name(one))
            names = ("kernel", "bias")
        case Embedding(width=width):
            assert isinstance(network.input, TokenInput)
            made = keras.layers.Embedding(network.input.vocabulary, width, name=_name(one))
            names = ("kernel",)
        case Recurrent(cell="lstm", units=units):
            made = keras.layers.LSTM(units, name=_name(one))
            names = ("kernel", "recurrent", "bias")
        case Recurrent(units=units):
            made = keras.layers.GRU(units, reset_after=True, name=_name(one))
            names = ("kernel", "recurrent", "bias")
    at = made(at)
    built.variables |= {f"{one.name}.{name}": made.weights[place] for place, name in enumerate(names)}
    assert tuple(at.shape[1:]) == after(one.layer, one.shape, network)
    return at


def _same(conv: Conv) -> bool:
    """Whether Keras' own padding lays the same zeros: at other strides it lays more behind than before."""
    return conv.stride == 1 and conv.kernel == 2 * conv.padding + 1


def _name(one: Placed) -> str:
    return f"{one.layer.op}_{one.name.replace('.', '_')}"
