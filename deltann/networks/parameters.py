"""The weights of a network: names and shapes in a neutral layout, and how each begins.

Convolutions are [height, width, in, out], dense and recurrent kernels [in, out]; a dense layer behind a ``flatten``
takes its image as height, width, channels. The gates of an LSTM are input, forget, cell, output, those of a GRU update,
reset, new. A builder of a framework carries these into its own layout and back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deltann.networks.layers import BatchNorm, Conv, Dense, Embedding, Initialiser, Layer, Recurrent, Residual
from deltann.networks.network import Network, Shape, TokenInput, after


@dataclass(frozen=True)
class Parameter:
    """One array. ``trained`` is false for the moving averages of a batch norm.

    ``fan_in`` and ``fan_out`` are the numbers of inputs and outputs that an initialiser scales by.
    """

    name: str
    shape: Shape
    initialiser: Initialiser
    fan_in: int = 1
    fan_out: int = 1
    trained: bool = True


@dataclass(frozen=True)
class Placed:
    """A layer at its place: its name (``3``, or ``5.branch.0`` inside a residual) and what it is given."""

    name: str
    layer: Layer
    shape: Shape
    flattened: Shape | None = None
    """The image that a flatten has made a vector of, for the layer behind it."""


def placed(network: Network, layers: Sequence[Layer], shape: Shape, prefix: str = "") -> Iterator[Placed]:
    """The layers of a path with their names and inputs; those inside a residual are not gone into."""
    flattened: Shape | None = None
    for index, layer in enumerate(layers):
        yield Placed(f"{prefix}{index}", layer, shape, flattened)
        flattened = shape if layer.op == "flatten" else None
        shape = after(layer, shape, network)


def parameters(network: Network) -> list[Parameter]:
    """Every weight, in the order of the layers."""
    return list(_of_path(network, network.layers, network.input.shape, ""))


def _of_path(network: Network, layers: Sequence[Layer], shape: Shape, prefix: str) -> Iterator[Parameter]:
    for one in placed(network, layers, shape, prefix):
        if isinstance(one.layer, Residual):
            yield from _of_path(network, one.layer.branch, one.shape, f"{one.name}.branch.")
            yield from _of_path(network, one.layer.shortcut, one.shape, f"{one.name}.shortcut.")
        else:
            yield from _of_layer(one, network)


def _of_layer(one: Placed, network: Network) -> Iterator[Parameter]:
    name, width = one.name, one.shape[-1]
    match one.layer:
        case Conv(kernel=side, filters=filters, initialiser=how, bias=bias):
            area = side * side
            yield Parameter(f"{name}.kernel", (side, side, width, filters), how, area * width, area * filters)
            if bias:
                yield Parameter(f"{name}.bias", (filters,), "zeros")
        case Dense(units=units, initialiser=how):
            yield Parameter(f"{name}.kernel", (width, units), how, width, units)
            yield Parameter(f"{name}.bias", (units,), "zeros")
        case Embedding(width=vector, initialiser=how) if isinstance(network.input, TokenInput):
            yield Parameter(f"{name}.kernel", (network.input.vocabulary, vector), how)
        case BatchNorm():
            yield Parameter(f"{name}.scale", (width,), "ones")
            yield Parameter(f"{name}.shift", (width,), "zeros")
            yield Parameter(f"{name}.mean", (width,), "zeros", trained=False)
            yield Parameter(f"{name}.variance", (width,), "ones", trained=False)
        case Recurrent():
            yield from _of_cell(name, width, one.layer)


def _of_cell(name: str, width: int, layer: Recurrent) -> Iterator[Parameter]:
    units = layer.units
    gates = 4 if layer.cell == "lstm" else 3
    yield Parameter(f"{name}.kernel", (width, gates * units), layer.initialiser, width, gates * units)
    yield Parameter(f"{name}.recurrent", (units, gates * units), layer.recurrent_initialiser, units, gates * units)
    if layer.cell == "gru":
        yield Parameter(f"{name}.bias", (2, gates * units), "zeros")
    else:
        yield Parameter(f"{name}.bias", (gates * units,), "open_forget")
