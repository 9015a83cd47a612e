"""A few numbers that tell whether two tensors hold the same values, in whatever layout.

Conversion and compilation transpose, pad to blocks and reshape; what stays is the multiset of values. Order statistics
do not depend on order, so that they match across layouts, and they need not hold the tensors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_POINTS = 65
_PROBES = np.linspace(0, 1, _POINTS)


@dataclass(frozen=True, eq=False)
class Signature:
    """Of one tensor.

    Args:
        size: number of elements.
        order: float64 [65], values at evenly spaced ranks, from the smallest to the largest; NaN where it holds none.
        mean: of all finite values.
        rms: root mean square of all finite values.
        invalid: how many are NaN or infinite.
    """

    size: int
    order: np.ndarray
    mean: float
    rms: float
    invalid: int


def signature(values: np.ndarray) -> Signature:
    """The signature of a tensor of any shape and numeric type."""
    flat = np.asarray(values, np.float64).reshape(-1)
    finite = flat[np.isfinite(flat)]
    if not finite.size:
        return Signature(flat.size, np.full(_POINTS, np.nan), np.nan, np.nan, flat.size)
    ranks = np.round(_PROBES * (finite.size - 1)).astype(int)
    return Signature(
        size=flat.size,
        order=np.sort(finite)[ranks],
        mean=float(finite.mean()),
        rms=float(np.sqrt(np.mean(finite**2))),
        invalid=flat.size - finite.size,
    )


def distance(a: Signature, b: Signature) -> float:
    """How far two signatures are apart, relative to the root mean square of ``a``; infinite for other sizes.

    The largest difference of order statistics, mean and root mean square. 0 for equal tensors, in any order; two
    tensors that differ elementwise by at most d have a distance of at most d / rms.
    """
    if a.size != b.size or a.invalid != b.invalid:
        return float("inf")
    if a.invalid == a.size:
        return 0.0
    scale = a.rms if a.rms > 0 else 1.0
    apart = max(float(np.abs(a.order - b.order).max()), abs(a.mean - b.mean), abs(a.rms - b.rms))
    return apart / scale


def likeness(a: Signature, b: Signature | None) -> float:
    """Correlation of the order statistics of two tensors of one size, −1..1: 1 where they differ by scale and offset.

    −1 where sizes differ, where either is unknown, and where it cannot be said.
    """
    if b is None or a.size != b.size or not (np.isfinite(a.order).all() and np.isfinite(b.order).all()):
        return -1.0
    x, y = a.order - a.order.mean(), b.order - b.order.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / scale if scale else -1.0
