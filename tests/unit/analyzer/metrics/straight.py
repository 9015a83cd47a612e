"""Label metrics by their definitions, one input at a time: sets, lists and SciPy, no cleverness."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.stats import kendalltau


def jaccard(a: Sequence[int], b: Sequence[int]) -> float:
    return len(set(a) & set(b)) / len(set(a) | set(b))


def rbo(a: Sequence[int], b: Sequence[int], p: float, depth: int) -> float:
    """Webber, Moffat and Zobel 2010, equation 32."""
    overlap = [len(set(a[:d]) & set(b[:d])) for d in range(1, depth + 1)]
    series = sum(x / d * p**d for d, x in enumerate(overlap, start=1))
    return overlap[-1] / depth * p**depth + (1 - p) / p * series


def tau(a: Sequence[int], b: Sequence[int]) -> float:
    union = sorted(set(a) | set(b))
    ranks = [[ranked.index(item) + 1 if item in ranked else len(ranked) + 1 for item in union] for ranked in (a, b)]
    if any(len(set(rank)) < 2 for rank in ranks):
        return math.nan
    return float(kendalltau(*ranks).statistic)


def compare(
    labels: npt.NDArray[np.int32], valid: npt.NDArray[np.bool_], a: int, b: int, p: float, depth: int
) -> dict[str, float]:
    rows = [row for row in range(labels.shape[1]) if valid[a, row] and valid[b, row]]
    lists = [(labels[a, row].tolist(), labels[b, row].tolist()) for row in rows]
    taus = [found for found in (tau(x, y) for x, y in lists) if not math.isnan(found)]
    differ = sum(x[0] != y[0] for x, y in lists)
    return {
        "n": len(rows),
        "n_invalid_a": int((~valid[a]).sum()),
        "n_invalid_b": int((~valid[b]).sum()),
        "n_differ": differ,
        "top1_disagreement": differ / len(rows) if rows else math.nan,
        "topk_jaccard": _mean([jaccard(x, y) for x, y in lists]),
        "rbo": _mean([rbo(x, y, p, depth) for x, y in lists]),
        "kendall_tau": _mean(taus),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
