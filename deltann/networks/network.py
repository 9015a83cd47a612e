"""A network as plain data, and what shape each of its layers gives. Pure."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from deltann.base import Data
from deltann.errors import SpecError
from deltann.networks.layers import Conv, Dense, Embedding, Layer, Pool, Recurrent, Residual

Shape = tuple[int, ...]
"""Of one example: (height, width, channels), (length,) tokens, (length, width) vectors, or (features,)."""


class ImageInput(Data):
    """float32 pixels, as many channels as the data set has."""

    kind: Literal["image"] = "image"
    height: int = Field(ge=1, le=1024)
    width: int = Field(ge=1, le=1024)
    channels: Literal[1, 3]

    @property
    def shape(self) -> Shape:
        """Of one example."""
        return (self.height, self.width, self.channels)


class TokenInput(Data):
    """int32 tokens in [0, vocabulary)."""

    kind: Literal["tokens"] = "tokens"
    length: int = Field(ge=1, le=10_000)
    vocabulary: int = Field(ge=2, le=1_000_000)

    @property
    def shape(self) -> Shape:
        """Of one example."""
        return (self.length,)


class Network(Data):
    """A classifier that ends in logits, whatever framework builds it."""

    name: str = Field(min_length=1, max_length=64)
    input: Annotated[ImageInput | TokenInput, Field(discriminator="kind")]
    layers: tuple[Layer, ...] = Field(min_length=1)

    @property
    def classes(self) -> int:
        """How many logits it gives.

        Raises:
            SpecError: where its layers do not fit together, or do not end in a vector.
        """
        shape = shapes(self)[-1]
        if len(shape) != 1:
            raise SpecError(f"The network {self.name} ends in {list(shape)}. Let it end in a dense layer of logits.")
        return shape[0]


def shapes(network: Network) -> list[Shape]:
    """The shape that each layer gives, in order.

    Raises:
        SpecError: for a layer that cannot take what comes before it.
    """
    found: list[Shape] = []
    at = network.input.shape
    for layer in network.layers:
        at = after(layer, at, network)
        found.append(at)
    return found


def after(layer: Layer, shape: Shape, network: Network) -> Shape:
    """The shape that a layer makes of another.

    Raises:
        SpecError: where it cannot take that.
    """
    wanted = _RANK.get(layer.op)
    if wanted is not None and len(shape) != wanted:
        raise SpecError(
            f"The network {network.name} gives {list(shape)} to a layer {layer.op}, which takes {wanted} dimensions. "
            "Put a flatten, pool or embedding before it."
        )
    match layer:
        case Conv():
            sides = [(side + 2 * layer.padding - layer.kernel) // layer.stride + 1 for side in shape[:2]]
            return _sound((*sides, layer.filters), network)
        case Pool():
            return _sound((shape[0] // layer.size, shape[1] // layer.size, shape[2]), network)
        case Dense():
            return (layer.units,)
        case Embedding():
            return (*shape, layer.width)
        case Recurrent():
            return (layer.units,)
        case Residual():
            return _sum(layer, shape, network)
    if layer.op == "flatten":
        return (shape[0] * shape[1] * shape[2],)
    return shape[2:] if layer.op == "global_average" else shape


_RANK = {
    "conv": 3, "pool": 3, "global_average": 3, "flatten": 3, "dense": 1, "embedding": 1, "recurrent": 2, "residual": 3,
}  # fmt: skip


def _sum(layer: Residual, shape: Shape, network: Network) -> Shape:
    ends = []
    for path in (layer.branch, layer.shortcut):
        at = shape
        for inner in path:
            at = after(inner, at, network)
        ends.append(at)
    if ends[0] != ends[1]:
        raise SpecError(
            f"The network {network.name} adds {list(ends[0])} to {list(ends[1])}. Give the shortcut a convolution of "
            "the branch's filters and stride."
        )
    return ends[0]


def _sound(shape: Shape, network: Network) -> Shape:
    if min(shape) < 1:
        raise SpecError(f"The network {network.name} shrinks its image to {list(shape)}. Leave out a pool or a stride.")
    return shape
