"""Who disagrees with whom: the share of inputs on which two variants' labels differ, for all pairs of a model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from deltann.report.models import Disagreement
from deltann_analyzer.measured import Measured

MAX_SHOWN = 48
"""Groups of a model in a matrix: more cannot be read, and those that differ come first."""


def disagreements(measured: Sequence[Measured]) -> list[Disagreement]:
    """One matrix per model that has at least two variants with labels."""
    models = dict.fromkeys(one.plan.model for one in measured)
    matrices = (_of_model(model, [one for one in measured if one.plan.model == model]) for model in models)
    return [matrix for matrix in matrices if matrix is not None]


def disagreement(labels: npt.NDArray[np.int32], valid: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """[V, V] shares of the inputs valid on both sides whose first label differs; NaN where there is none.

    Args:
        labels: [V, N] first labels.
        valid: [V, N].
    """
    both = np.array([(valid & row).sum(axis=1) for row in valid], float)
    differ = np.array(
        [((labels != row) & valid & ok).sum(axis=1) for row, ok in zip(labels, valid, strict=True)], float
    )
    shares: npt.NDArray[np.float64] = np.divide(differ, both, out=np.full_like(both, np.nan), where=both > 0)
    return shares


def _of_model(model: str, measured: Sequence[Measured]) -> Disagreement | None:
    known = [one for one in measured if one.labels is not None and one.valid is not None]
    if len(known) < 2:
        return None
    groups = _alike(known)
    first = [group[0] for group in groups]
    labels = np.stack([one.labels[:, 0] for one in first if one.labels is not None])
    valid = np.stack([one.valid for one in first if one.valid is not None])
    shares = disagreement(labels, valid)
    shown = _shown(groups, np.nan_to_num(shares))
    return Disagreement(
        model=model,
        groups=[[one.plan.id for one in groups[at]] for at in shown],
        top1=[[None if np.isnan(shares[i, j]) else float(shares[i, j]) for j in shown] for i in shown],
        of=len(known),
    )


def _alike(known: Sequence[Measured]) -> list[list[Measured]]:
    """Variants that give the same first label, or none, for every input, in the order of their first ones."""
    groups: dict[bytes, list[Measured]] = defaultdict(list)
    for one in known:
        if one.labels is not None:
            groups[one.labels[:, 0].tobytes()].append(one)
    return list(groups.values())


def _shown(groups: Sequence[Sequence[Measured]], shares: npt.NDArray[np.float64]) -> list[int]:
    """All groups, or, where they are too many, those with a native and those that differ most, in their order."""
    if len(groups) <= MAX_SHOWN:
        return list(range(len(groups)))
    mean = shares.mean(axis=1)
    native = [any(one.plan.conversion is None for one in group) for group in groups]
    rank = sorted(range(len(groups)), key=lambda at: (not native[at], -mean[at], at))
    return sorted(rank[:MAX_SHOWN])
