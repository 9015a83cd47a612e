"""One tensor in the layout of another: axes in another order, sides of 1 added or dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np

_MOST_AXES = 5
"""Axes beyond this are not permuted: 120 orders are enough to try."""


def layouts(values: np.ndarray, shape: Sequence[int]) -> Iterator[np.ndarray]:
    """Every arrangement of a tensor that has this shape: all orders of its axes, sides of 1 wherever they may be.

    Args:
        values: of any shape.
        shape: wanted; nothing comes where its sides are not those of ``values`` in some order.
    """
    sides = [side for side in values.shape if side != 1]
    wanted = [side for side in shape if side != 1]
    if sorted(sides) != sorted(wanted) or len(sides) > _MOST_AXES:
        return
    squeezed = values.reshape(sides)
    for order in permutations(range(len(sides))):
        if [sides[axis] for axis in order] == wanted:
            yield squeezed.transpose(order).reshape(tuple(shape))


def nearest_layout(values: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, float] | None:
    """The arrangement of ``values`` that is nearest to ``other``, and how far it is.

    Returns:
        The arrangement, in the shape of ``other``, and its :func:`relative_error`. None where no arrangement fits.
    """
    best: tuple[np.ndarray, float] | None = None
    for one in layouts(values, other.shape):
        far = relative_error(one, other)
        if best is None or far < best[1]:
            best = (one, far)
    return best


def relative_error(right: np.ndarray, other: np.ndarray) -> float:
    """The largest difference of two tensors of one shape, relative to the root mean square of the first.

    NaN at the same places counts as equal, elsewhere as infinite.
    """
    finite = right[np.isfinite(right)]
    scale = float(np.sqrt(np.mean(np.square(finite, dtype=np.float64)))) if finite.size else 0.0
    return _largest(right, other) / (scale or 1.0)


def _largest(a: np.ndarray, b: np.ndarray) -> float:
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if bool(same.all()):
        return 0.0
    apart = np.abs(np.asarray(a, np.float64)[~same] - np.asarray(b, np.float64)[~same])
    return float(apart.max()) if bool(np.isfinite(apart).all()) else float("inf")
