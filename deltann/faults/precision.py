"""What a tensor of real numbers lost when it was written with fewer bits: told from it and from what it was."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

_WHOLE = 23
"""Bits of a float32's mantissa that are stored."""
_MOST = 16
"""Bits of a mantissa of which precision was lost; with more, the difference is what rounding leaves."""
_LEVELS = 256
"""Of an integer of eight bits."""
_TELLING = 3
"""Levels that differ, from which on it is no accident that they are evenly spaced."""


def lost_bits(right: np.ndarray, other: np.ndarray) -> bool:
    """Whether every value is the right one with a shorter mantissa, cut or rounded: bfloat16, TF32 and shorter ones.

    Args:
        right: what the values were, float32 or wider.
        other: of the same shape, of float32 or what converts to it.
    """
    kept = _mantissa(other)
    if kept > _MOST or kept >= _mantissa(right):
        return False
    wide, own = right.astype(np.float64), other.astype(np.float64)
    if not np.isfinite(wide).all() or not np.isfinite(own).all():
        return False
    # np.frexp's exponent is that of a mantissa in [0.5, 1): the last bit kept is worth 2 ** (exponent - 1 - kept)
    last = np.ldexp(1.0, np.frexp(wide)[1] - 1 - kept)
    return bool((np.abs(wide - own) <= np.where(wide == 0, 0, last)).all())


def _mantissa(values: np.ndarray) -> int:
    """How many bits of its mantissa the most precise value uses."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32) & np.uint32((1 << _WHOLE) - 1)
    used = int(np.bitwise_or.reduce(bits, axis=None))
    return _WHOLE - (used & -used).bit_length() + 1 if used else 0


def quantised(right: np.ndarray, other: np.ndarray) -> bool:
    """Whether the values are the nearest of at most 256 evenly spaced levels: of the whole tensor, or of each channel.

    What lies outside of the levels may be the first or the last of them, as saturation leaves it. A channel of fewer
    than three levels tells nothing, for or against.
    """
    wide, own = right.astype(np.float64), other.astype(np.float64)
    if not np.isfinite(wide).all() or not np.isfinite(own).all():
        return False
    if _evenly(wide.ravel(), own.ravel()):
        return True
    for axis in range(wide.ndim if wide.ndim > 1 else 0):
        rows = [np.moveaxis(one, axis, 0).reshape(one.shape[axis], -1) for one in (wide, own)]
        if _all_told(_evenly(*row) for row in zip(*rows, strict=True)):
            return True
    return False


def _all_told(channels: Iterable[bool | None]) -> bool:
    """Whether no channel speaks against it and one speaks for it; those behind the first against are not looked at."""
    told = False
    for channel in channels:
        if channel is False:
            return False
        told = told or channel is True
    return told


def _evenly(right: np.ndarray, other: np.ndarray) -> bool | None:
    """Whether these values are quantised; None where there are too few levels to tell."""
    levels = np.unique(other)
    if len(levels) < _TELLING:
        return None
    step = float(np.diff(levels).min())
    places = (levels - levels[0]) / step
    rounding = np.finfo(np.float32).eps * float(np.abs(levels).max()) / step * 4
    if places[-1] > _LEVELS - 1 + rounding * _LEVELS or (np.abs(places - np.rint(places)) > 0.01 + rounding).any():
        return False
    near = np.abs(right - other) <= step * (0.51 + rounding)
    clipped = ((other == levels[0]) & (right < other)) | ((other == levels[-1]) & (right > other))
    return bool((near | clipped).all() and (near.sum() * 2 > near.size))
