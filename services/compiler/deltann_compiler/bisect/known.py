"""Where two builds of a sweep differ by what they answered there: what tells whether there is anything to look for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deltann.kinds.bisect import BisectData, BisectParams, Comparison
from deltann.layers.layout import relative_error
from deltann.service import JobContext

_MOST = 4
"""Inputs that are looked at: the worst one is searched with, and the others show how far it goes."""


@dataclass(frozen=True)
class Differing:
    """Inputs on which two builds differ, the worst first, at most :data:`_MOST`; of ``n``, and the largest error."""

    positions: tuple[int, ...]
    n: int
    error: float

    def agreeing(self, params: BisectParams) -> BisectData:
        """What a job says where there are none."""
        agree = Comparison(a=params.a.name, b=params.b.name, n=self.n, error=self.error)
        return BisectData(comparisons=(agree,), findings=(), candidates=0, failed={})


def known_to_differ(params: BisectParams, context: JobContext) -> Differing | None:
    """By labels, and by whole outputs where both were kept; None where the job was given no answers."""
    if "answers_a" not in context.inputs:
        return None
    a, b = (_read(context, role) for role in ("answers_a", "answers_b"))
    other = (a["labels"][:, 0] != b["labels"][:, 0]) | (a["valid"] != b["valid"])
    errors = np.zeros(len(other))
    if "outputs" in a and "outputs" in b:
        errors = np.array([relative_error(one, two) for one, two in zip(a["outputs"], b["outputs"], strict=True)])
    worst = sorted(np.flatnonzero(other | (errors > params.tolerance)), key=lambda place: -errors[place])
    return Differing(tuple(map(int, worst[:_MOST])), len(other), float(errors.max(initial=0.0)))


def _read(context: JobContext, role: str) -> dict[str, np.ndarray]:
    path = context.store.materialise(context.inputs[role].artifacts["outputs"], context.cache)
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
