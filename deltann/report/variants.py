"""The part of the report on variants."""

from __future__ import annotations

from pydantic import Field

from deltann.base import Data
from deltann.engines import Engine
from deltann.model import Framework
from deltann.outcome import Outcome
from deltann.report.share import Share


class VariantError(Data):
    """What failed first on the way to a variant. ``log`` is a path in the report folder."""

    stage: str
    type: str
    message: str
    log: str | None


class Times(Data):
    """Milliseconds of one inference. ``first`` is before warm-up, ``nth`` the last; ``drift_pct`` late to early."""

    median: float | None
    mean: float | None
    std: float | None
    p95: float | None
    p99: float | None
    first: float | None
    nth: float | None
    drift_pct: float | None
    n: int
    batch: int = 1


class Variant(Data):
    """One variant and what was measured of it. Accuracy counts an invalid answer as wrong."""

    id: str
    model: str
    instance: str
    source: str
    framework: Framework
    chain: list[str]
    conversion: str | None = None
    parent: str | None = None
    engine: Engine
    target: str | None
    opt_level: int | None
    schedule: str | None
    precision: str
    library: str
    precision_used: str | None = Field(default=None, description="As the engine says; null where it does not tell")
    library_used: str | None = Field(default=None, description="As the engine says; null where it does not tell")
    preprocessing: str
    mutation: str | None
    pool: str
    device: str | None
    threads: int | None
    toolchain: dict[str, str]
    weights_fingerprint: str | None
    graph_fingerprint: str | None
    outcome: Outcome
    error: VariantError | None
    tainted_by: str | None = None
    kernels: int | None = Field(default=None, description="Of a compiled module")
    passes: list[str] = Field(default=[], description="Of a compiled module: those that ran, in order")
    unscheduled: list[str] = Field(default=[], description="Kernels of the module that kept their plain loops")
    n: int = 0
    n_invalid: int = 0
    accuracy_top1: Share | None
    accuracy_top5: Share | None
    load_ms: float | None
    size_bytes: int | None
    memory_peak_bytes: int | None
    time_ms: Times | None
