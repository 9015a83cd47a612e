"""How far two sets of outputs agree: what ``deltann compare`` prints. Small and direct; sweeps have the analyzer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from deltann.errors import DataError

RBO_P = 0.9
REL_FLOOR = 1e-6


class Outputs(BaseModel):
    """The arrays of an ``outputs.npz``, as kind ``execute`` describes them, for n inputs."""

    model_config = {"arbitrary_types_allowed": True}

    labels: NDArray[np.int32]
    valid: NDArray[np.bool_]
    scores: NDArray[np.float32] | None = None
    outputs: NDArray[np.float32] | None = None
    ids: tuple[str, ...] | None = None
    space: str | None = None


class Agreement(BaseModel):
    """Of the ``n`` inputs that are valid on both sides. Null where there is nothing to say."""

    n: int
    n_invalid_a: int
    n_invalid_b: int
    top1_disagreement: float | None
    rbo: float | None
    kendall_tau: float | None
    max_abs: float | None
    max_rel: float | None
    differing: list[str]


def compare_outputs(a: Outputs, b: Outputs) -> Agreement:
    """Compare two runs over the same inputs.

    Raises:
        DataError: if the inputs are not the same.
    """
    if len(a.valid) != len(b.valid) or (a.ids is not None and b.ids is not None and a.ids != b.ids):
        raise DataError(
            f"The two sides are of other inputs ({len(a.valid)} and {len(b.valid)}): run both over the same data set."
        )
    both = a.valid & b.valid
    first, second = a.labels[both], b.labels[both]
    ids = a.ids or tuple(map(str, range(len(a.valid))))
    differs = first[:, 0] != second[:, 0]
    n = len(first)
    taus = [tau for x, y in zip(first, second, strict=True) if (tau := kendall_tau(x, y)) is not None]
    errors = _errors(a, b, both)
    return Agreement(
        n=n,
        n_invalid_a=int((~a.valid).sum()),
        n_invalid_b=int((~b.valid).sum()),
        top1_disagreement=float(differs.mean()) if n else None,
        rbo=float(np.mean([rbo(x, y) for x, y in zip(first, second, strict=True)])) if n else None,
        kendall_tau=float(np.mean(taus)) if taus else None,
        max_abs=errors[0],
        max_rel=errors[1],
        differing=[ids[i] for i in np.flatnonzero(both)[differs]],
    )


def rbo(a: NDArray[Any], b: NDArray[Any], p: float = RBO_P) -> float:
    """Extrapolated rank-biased overlap of two rankings of equal length (Webber et al. 2010, equation 32)."""
    depth = min(len(a), len(b))
    overlap = np.array([len(np.intersect1d(a[:d], b[:d])) for d in range(1, depth + 1)], dtype=float)
    ranks = np.arange(1, depth + 1)
    agreement = overlap / ranks
    return float(agreement[-1] * p**depth + (1 - p) / p * np.sum(agreement * p**ranks))


def kendall_tau(a: NDArray[Any], b: NDArray[Any]) -> float | None:
    """Kendall's tau-b over the ranks within the union of two rankings; what one lacks ties behind its last.

    None where a ranking orders nothing.
    """
    union = list(dict.fromkeys([*a.tolist(), *b.tolist()]))
    ranks = [[side.index(item) if item in side else len(side) for item in union] for side in (a.tolist(), b.tolist())]
    x, y = np.sign(np.subtract.outer(ranks[0], ranks[0])), np.sign(np.subtract.outer(ranks[1], ranks[1]))
    scale = np.sqrt(float((x != 0).sum()) * float((y != 0).sum()))
    return float((x * y).sum() / scale) if scale else None


def _errors(a: Outputs, b: Outputs, both: NDArray[np.bool_]) -> tuple[float | None, float | None]:
    comparable = (
        a.outputs is not None
        and b.outputs is not None
        and a.outputs.shape == b.outputs.shape
        and (a.space is None or b.space is None or a.space == b.space)
        and both.any()
    )
    if not comparable:
        return None, None
    assert a.outputs is not None
    assert b.outputs is not None
    x, y = a.outputs[both].astype(np.float64), b.outputs[both].astype(np.float64)
    with np.errstate(invalid="ignore"):
        gap = np.abs(x - y)
        return float(gap.max()), float((gap / np.maximum(np.abs(x), REL_FLOOR)).max())
