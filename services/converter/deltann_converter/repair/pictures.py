"""Histograms and small maps of a tensor that should be and one that is."""

from __future__ import annotations

import numpy as np

from deltann.faults.layers import BINS, Picture

_SIDE = 24


def picture(node: str, what: str, right: np.ndarray, found: np.ndarray) -> Picture | None:
    """A picture of two tensors of one shape; None where neither holds a finite value."""
    a, b = np.asarray(right, np.float64), np.asarray(found, np.float64)
    values = np.concatenate([a[np.isfinite(a)], b[np.isfinite(b)]])
    if not values.size:
        return None
    low, high = values.min(), values.max()
    # NaN is drawn as the number nearest to 0 that there is: outside of the edges it would not be counted
    a, b = (np.nan_to_num(one, nan=np.clip(0.0, low, high), posinf=high, neginf=low) for one in (a, b))
    edges = _edges(values)
    far = _edges(b - a)
    return Picture(
        node=node,
        what=what,
        edges=tuple(edges.tolist()),
        right=_counts(a, edges),
        found=_counts(b, edges),
        difference_edges=tuple(far.tolist()),
        difference=_counts(b - a, far),
        right_map=_map(a),
        found_map=_map(b),
        difference_map=_map(np.abs(b - a)),
    )


def _edges(values: np.ndarray) -> np.ndarray:
    """Of bins from the smallest to the largest; around a value that is the only one."""
    low, high = float(values.min()), float(values.max())
    least = max(abs(low), abs(high), 1.0) * 1e-6
    if high - low < least:
        low, high = low - least, high + least
    return np.linspace(low, high, BINS + 1)


def _counts(values: np.ndarray, edges: np.ndarray) -> tuple[int, ...]:
    return tuple(np.histogram(values, edges)[0].tolist())


def _map(values: np.ndarray) -> tuple[tuple[float, ...], ...]:
    """The two longest axes in their order, the others averaged, blocks of neighbours averaged to at most 24 × 24."""
    flat = np.atleast_2d(np.squeeze(values))
    kept = sorted(np.argsort(flat.shape, kind="stable")[-2:])
    plain = flat.mean(axis=tuple(axis for axis in range(flat.ndim) if axis not in kept))
    for axis in (0, 1):
        starts = np.unique(np.linspace(0, plain.shape[axis], min(_SIDE, plain.shape[axis]) + 1).astype(int)[:-1])
        sums = np.add.reduceat(plain, starts, axis)
        lengths = np.diff(np.append(starts, plain.shape[axis]))
        plain = sums / (lengths[:, None] if axis == 0 else lengths)
    return tuple(tuple(float(f"{value:.4g}") for value in row) for row in plain)
