"""What one tensor holds, in numbers: for people who look at a layer, and for telling two layers apart."""

from __future__ import annotations

import numpy as np

from deltann.base import Data


class Statistics(Data):
    """Of one tensor. Numbers are of its finite values, null where it has none; shares, 0..1, are of all values.

    ``norm`` is the square root of the sum of squares; ``std`` that of the mean squared distance from the mean.
    """

    shape: tuple[int, ...]
    mean: float | None
    std: float | None
    min: float | None
    max: float | None
    norm: float | None
    nan: float
    inf: float
    zero: float


def statistics(values: np.ndarray) -> Statistics:
    """The statistics of a tensor of any shape and numeric type."""
    wide = np.asarray(values, np.float64)
    finite = wide[np.isfinite(wide)]
    size = max(wide.size, 1)
    known = finite.size > 0
    return Statistics(
        shape=tuple(values.shape),
        mean=float(finite.mean()) if known else None,
        std=float(finite.std()) if known else None,
        min=float(finite.min()) if known else None,
        max=float(finite.max()) if known else None,
        norm=float(np.sqrt(np.square(finite).sum())) if known else None,
        nan=float(np.isnan(wide).sum()) / size,
        inf=float(np.isinf(wide).sum()) / size,
        zero=float((wide == 0).sum()) / size,
    )
