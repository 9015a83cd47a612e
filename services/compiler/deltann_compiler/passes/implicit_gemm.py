"""Convolutions and dense layers as matrix products whose weights lie in the order in which they are read.

A pixel of the output is a row of A: the values under the kernel at that pixel, which are addressed in the image, never
gathered. B is the weights, packed at compile time to [outputs / tile, kernel height, kernel width, inputs, tile], so
that a tile of outputs reads one run of memory. Rows are rounded up to whole tiles by computing the last pixel again,
and outputs by weights of zero; neither is written out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from math import prod
from typing import Any

import numpy as np

from deltann_compiler.schedule.blocks import ravel
from deltann_compiler.schedule.gemm import TILE
from deltann_compiler.schedule.tiles import Tile, choose_tile

_OUT_ELEMWISE_FUSABLE = 4
"""``op_pattern`` of a kernel that elementwise operators behind it can be fused into."""

Legaliser = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Window:
    """How a kernel moves over an image: each pair is of height and width; padding is top, left, bottom, right."""

    strides: tuple[int, ...] = (1, 1)
    padding: tuple[int, ...] = (0, 0, 0, 0)
    dilation: tuple[int, ...] = (1, 1)


def conv2d(lanes: int, otherwise: Legaliser) -> Legaliser:
    """The legaliser of ``relax.nn.conv2d``; what is grouped, in another layout or without constant weights is left."""

    def legalise(builder: Any, call: Any) -> Any:
        attrs, weights = call.attrs, _weights(call)
        layouts = (attrs.data_layout, attrs.kernel_layout, attrs.out_layout)
        if weights is None or layouts != ("NHWC", "HWIO", "NHWC") or int(attrs.groups) != 1:
            return otherwise(builder, call)
        window = Window(*(tuple(map(int, field)) for field in (attrs.strides, attrs.padding, attrs.dilation)))
        return _call(builder, call, weights, window, lanes, "conv2d")

    return legalise


def matmul(lanes: int, otherwise: Legaliser) -> Legaliser:
    """The legaliser of ``relax.matmul`` by a constant matrix; other products are left."""

    def legalise(builder: Any, call: Any) -> Any:
        weights = _weights(call)
        if weights is None or weights.ndim != 2 or len(call.args[0].ty.shape) < 2:
            return otherwise(builder, call)
        return _call(builder, call, weights[None, None], Window(), lanes, "matmul")

    return legalise


def pack(weights: np.ndarray, channels: int) -> np.ndarray:
    """[kernel height, kernel width, inputs, outputs] to [⌈outputs / channels⌉, height, width, inputs, channels]."""
    height, width, inputs, outputs = weights.shape
    across = -(-outputs // channels)
    padded = np.pad(weights, ((0, 0), (0, 0), (0, 0), (0, across * channels - outputs)))
    return np.ascontiguousarray(padded.reshape(height, width, inputs, across, channels).transpose(3, 0, 1, 2, 4))


def _weights(call: Any) -> np.ndarray | None:
    """The constant second operand of a call in float32 whose shapes are known; None of any other call."""
    held = getattr(call.args[1], "value", None)
    types = [one.ty for one in (call, *call.args)]
    single = all(str(one.dtype) == "float32" for one in types)
    known = all(one.shape is not None and all(hasattr(side, "value") for side in one.shape) for one in types)
    if not single or not known or not hasattr(held, "numpy"):
        return None
    value: np.ndarray = held.numpy()
    return value


def _call(builder: Any, call: Any, weights: np.ndarray, window: Window, lanes: int, name: str) -> Any:
    from tvm import relax

    shape, image = ([int(side) for side in each.ty.shape] for each in (call, call.args[0]))
    tile = choose_tile(prod(shape[:-1]), shape[-1], weights[..., 0].size, 4 * prod(image), lanes)
    packed = relax.const(pack(weights, tile.channels))

    def compute(data: Any, filters: Any) -> Any:
        return _product(data, filters, shape, window, tile)

    attributes = {"op_pattern": _OUT_ELEMWISE_FUSABLE}
    return builder.call_te(compute, call.args[0], packed, primfunc_name_hint=name, primfunc_attrs=attributes)


def _product(data: Any, filters: Any, shape: list[int], window: Window, tile: Tile) -> Any:
    """The tensor expression: pad, product, and the product's rows as the pixels of an image again."""
    from tvm import te, tirx, topi

    across, height, width, inputs, channels = (int(side) for side in filters.shape)
    if any(window.padding):
        top, left, bottom, right = window.padding
        data = topi.nn.pad(data, (0, top, left, 0), (0, bottom, right, 0), 0.0, name="pad")
    taps = [te.reduce_axis((0, side), name) for side, name in ((height, "y"), (width, "x")) if side > 1]
    channel = te.reduce_axis((0, inputs), "i")
    rows = prod(shape[:-1])

    def under(pixel: Any) -> list[Any]:
        """Where in the image: below, the tap is added to the kernel's upper left corner."""
        at = _unravel(tirx.min(pixel, rows - 1) if tile.rows > rows else pixel, shape[:-1])
        if len(shape) == 4:
            offsets = iter(taps)
            for axis, side in ((1, height), (2, width)):
                at[axis] = at[axis] * window.strides[axis - 1]
                if side > 1:
                    at[axis] = at[axis] + next(offsets) * window.dilation[axis - 1]
        return [*at, channel]

    def tap(axes: Any) -> list[Any]:
        offsets = iter(axes)
        return [next(offsets) if side > 1 else 0 for side in (height, width)]

    product = te.compute(
        (tile.rows, across * channels),
        lambda m, o: te.sum(
            data(*under(m)) * filters(o // channels, *tap(taps), channel, o % channels), axis=[*taps, channel]
        ),
        name="gemm",
        attrs={TILE: list(astuple(tile))},
    )
    return te.compute(shape, lambda *at: product(ravel(at[:-1], shape[:-1]), at[-1]), name="image", tag="injective")


def _unravel(flat: Any, sides: list[int]) -> list[Any]:
    """The inverse of ``ravel``. Sides of 1, and the first that is none, are left without a modulo."""
    at: list[Any] = []
    for axis, side in enumerate(sides):
        index = flat // prod(sides[axis + 1 :])
        at.append(0 if side == 1 else index if prod(sides[:axis]) == 1 else index % side)
    return at
