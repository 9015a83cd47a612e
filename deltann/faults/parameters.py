"""How a parameter of the target differs from the source's: the kind of fault, named from the two tensors alone."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from deltann.faults.precision import lost_bits, quantised
from deltann.layers.layout import layouts, relative_error

SAME = 1e-6
"""Relative errors up to this are float32 rounding; half precision leaves 1e-4 and more."""


class ParameterFault(StrEnum):
    """Kinds of wrong parameter. LAYOUT is of the right values in the order of another axis: only running it tells."""

    ZEROED = "zeroed"
    HALF = "half precision"
    LOST = "lost precision"
    QUANTISED = "quantised"
    SCALED = "scaled"
    PERMUTED = "permuted"
    LAYOUT = "wrong layout"
    SHAPE = "shape"
    OTHER = "other values"


def name_fault(right: np.ndarray, other: np.ndarray) -> ParameterFault | None:
    """Name what happened to a parameter.

    Args:
        right: the source's tensor.
        other: the target's, in any layout of it.

    Returns:
        None where both hold the same, up to layout and float32 rounding. PERMUTED where the same values are in another
        order that is no layout; SHAPE where the sides are others; LOST where each value has a shorter mantissa.
    """
    # every layout, not the nearest: of a tensor that is far off, the nearest need not be the true one
    arranged = list(layouts(right, other.shape))
    if not arranged:
        return ParameterFault.SHAPE
    if any(relative_error(one, other) <= SAME for one in arranged):
        return None
    if not other.any():
        return ParameterFault.ZEROED
    if relative_error(np.sort(right, axis=None), np.sort(other, axis=None)) <= SAME:
        return ParameterFault.PERMUTED
    if any(relative_error(_halved(one), other) <= SAME for one in arranged):
        return ParameterFault.HALF
    if any(_scaled(one, other) for one in arranged):
        return ParameterFault.SCALED
    if any(lost_bits(one, other) for one in arranged):
        return ParameterFault.LOST
    if any(quantised(one, other) for one in arranged):
        return ParameterFault.QUANTISED
    return ParameterFault.OTHER


def _halved(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return values.astype(np.float16).astype(values.dtype)


def _scaled(right: np.ndarray, other: np.ndarray) -> bool:
    """Whether one factor leads from the first to the second; of a single element one always does."""
    wide, own = right.astype(np.float64), other.astype(np.float64)
    if wide.size < 2 or not wide.any():
        return False
    factor = float(np.vdot(wide, own) / np.vdot(wide, wide))
    return relative_error(wide * factor, own) <= SAME
