"""Which inputs tell a mutant from its original, criterion by criterion. Pure."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deltann.report.mutants import Criterion
from deltann.spec.models import Compare
from deltann_analyzer.measured import Measured
from deltann_analyzer.metrics.labels import match_lists
from deltann_analyzer.metrics.overlap import likeness

LIMITS: dict[str, float] = {"rbo": 0.98, "tau": 0.98, "numeric": 1e-3}
"""Below the first two an input is killed; beyond the last, of the original's largest output."""

Kills = dict[Criterion, npt.NDArray[np.bool_]]


def kills(original: Measured, mutant: Measured, settings: Compare) -> Kills:
    """For each criterion bool [N]. Both sides have labels; an answer that is invalid on one side alone kills by all.

    - ``top1``: another first label;
    - ``topk``: another set of the first k;
    - ``rbo``, ``tau``: rank-biased overlap, or Kendall's tau over the union of both lists, below its limit;
    - ``numeric``: max |a − b| beyond its limit × max |a|, where both keep outputs of one shape and space.
    """
    assert original.labels is not None
    assert mutant.labels is not None
    assert original.valid is not None
    assert mutant.valid is not None
    k = min(original.labels.shape[1], mutant.labels.shape[1])
    one, other = original.labels[:, :k], mutant.labels[:, :k]
    both, single = original.valid & mutant.valid, original.valid ^ mutant.valid
    found: Kills = {name: single.copy() for name in ("top1", "topk", "rbo", "tau", "numeric")}
    if both.any():
        match = match_lists(one[both].T, other[both].T)
        like = likeness(match, rbo_p=settings.rbo_p, rbo_depth=min(k, settings.rbo_depth))
        found["top1"][both] = like.differ > 0
        found["topk"][both] = like.jaccard < 1
        found["rbo"][both] = like.rbo < LIMITS["rbo"]
        found["tau"][both] = (like.tau < LIMITS["tau"]) & (like.tau_known > 0)
        found["numeric"][both] = _numeric(original, mutant, both)
    return found


def _numeric(original: Measured, mutant: Measured, rows: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    a, b = original.outputs, mutant.outputs
    if a is None or b is None or a.shape != b.shape or original.executed is None or mutant.executed is None:
        return np.zeros(int(rows.sum()), np.bool_)
    if original.executed.space != mutant.executed.space:
        return np.zeros(int(rows.sum()), np.bool_)
    one, other = a[rows].astype(np.float64), b[rows].astype(np.float64)
    far: npt.NDArray[np.bool_] = np.abs(one - other).max(axis=1) > LIMITS["numeric"] * np.abs(one).max(axis=1)
    return far


def stuck(original: Measured, mutant: Measured) -> bool:
    """Whether the mutant gives all inputs one list of labels, and the original does not."""

    def one_answer(measured: Measured) -> bool:
        if measured.labels is None or measured.valid is None:
            return False
        answers = measured.labels[measured.valid]
        return len(answers) > 1 and bool((answers == answers[0]).all())

    return one_answer(mutant) and not one_answer(original)
