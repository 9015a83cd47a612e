"""The part of the report on models that the study trained: their curves, and what became of each instance."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deltann.base import Data
from deltann.kinds.train import Epoch
from deltann.model import Framework
from deltann.report.share import Share

Measure = Literal[
    "accuracy_before", "accuracy_after", "accuracy_lost", "disagreement", "error_abs", "error_rel", "size_before",
    "size_after", "load_ms_before", "load_ms_after", "time_ms_before", "time_ms_after", "sum_ms_before", "sum_ms_after",
    "memory_before", "memory_after",
]  # fmt: skip
MEASURES: tuple[Measure, ...] = Measure.__args__  # type: ignore[attr-defined]


class TrainingRun(Data):
    """One training; ``failed`` says why it gave no model, and is null where it did."""

    model: str
    instance: str
    framework: Framework | None = None
    seed: int | None = None
    n: int | None = Field(default=None, description="Examples trained on")
    seconds: float | None = None
    memory_peak_bytes: int | None = None
    resumed: int | None = Field(default=None, description="Epochs done by workers that were killed")
    curves: list[Epoch] = []
    failed: str | None = None


class InstanceMeasures(Data):
    """A trained instance before and after a step: in its own engine, and as ``way`` says.

    ``way`` is what the ids of all instances have in common behind their instance, e.g. ``→ onnx@onnxruntime``.
    ``disagreement`` is the share of inputs whose label differs; ``error_abs`` and ``error_rel`` are the means of
    |a − b| and |a − b| / max(|a|, 1e-6) over all outputs of all inputs. ``accuracy_lost`` is before less after. Sizes
    and memory are in bytes; times are medians of one inference, and sums are those of loading and one inference.
    """

    model: str
    framework: Framework
    instance: str
    way: str
    accuracy_before: Share | None = None
    accuracy_after: Share | None = None
    accuracy_lost: float | None = None
    disagreement: Share | None = None
    error_abs: float | None = None
    error_rel: float | None = None
    size_before: float | None = None
    size_after: float | None = None
    load_ms_before: float | None = None
    load_ms_after: float | None = None
    time_ms_before: float | None = None
    time_ms_after: float | None = None
    sum_ms_before: float | None = None
    sum_ms_after: float | None = None
    memory_before: float | None = None
    memory_after: float | None = None


class Spread(Data):
    """A measure over instances: how many have it, their mean, sample standard deviation (null for one), extremes."""

    model: str
    framework: Framework
    way: str
    measure: Measure
    n: int
    mean: float
    std: float | None
    min: float
    max: float


class FrameworkDifference(Data):
    """The accuracy of one configuration in two frameworks, over the instances that both have.

    Instances of one number began with the same weights and saw the same batches, so they are pairs: ``p_value`` is of
    Wilcoxon's signed-rank test, two-sided; null for fewer than six pairs, which no outcome could make significant.
    """

    model: str
    a: Framework
    b: Framework
    n: int
    mean_a: float
    std_a: float | None
    mean_b: float
    std_b: float | None
    mean_difference: float = Field(description="b less a")
    p_value: Share | None


class TrainingReport(Data):
    """All of it."""

    runs: list[TrainingRun]
    instances: list[InstanceMeasures]
    spreads: list[Spread]
    frameworks: list[FrameworkDifference]
