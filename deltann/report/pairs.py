"""The part of the report on pairs of variants."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deltann.base import Data
from deltann.report.share import Share
from deltann.spec.models import Axis

MAX_LISTED = 100
"""Ids of differing inputs listed in a pair; all of them are in ``differences.parquet``."""
PairAxis = Axis | Literal["multiple"]


class MeanMax(Data):
    """Mean and largest of an error over all valid inputs."""

    mean: float | None
    max: float | None


class OutputErrors(Data):
    """|a − b| and |a − b| / max(|a|, 1e-6) of an output, in the space that both sides answer in."""

    space: str
    abs: MeanMax
    rel: MeanMax


class Pair(Data):
    """Two variants that differ along one axis (or ``multiple``, where all pairs were asked for)."""

    a: str
    b: str
    axis: PairAxis
    same_weights: bool | None
    same_graph: bool | None
    tainted_by: str | None
    n: int
    n_invalid_a: int
    n_invalid_b: int
    top1_disagreement: Share | None = None
    topk_jaccard: Share | None = None
    rbo: float | None = None
    kendall_tau: float | None = None
    errors: dict[str, OutputErrors] = Field(default={})
    time_change_pct: float | None = None
    time_change_mean_pct: float | None = None
    time_ci95_pct: tuple[float, float] | None = None
    time_p_value: Share | None = None
    n_slower: int | None = None
    n_differ: int | None = None
    inputs_that_differ: list[str] = Field(default=[], max_length=MAX_LISTED)
