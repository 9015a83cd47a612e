"""The report contract ``deltann.report/1``.

Shares are 0..1. A number that could not be computed is null, never NaN or Inf. In a pair, ``a`` is the reference, the
earlier in ``variants``; changes are (b − a) / a × 100, so that a positive change of time means that b is slower.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue

from deltann.base import Data
from deltann.outcome import Outcome
from deltann.spec.models import Axis

SCHEMA_NAME = "deltann.report/1"
MAX_LISTED = 100
"""Ids of differing inputs listed in a pair; all of them are in ``differences.parquet``."""

Share = Annotated[float, Field(ge=0, le=1)]
PairAxis = Axis | Literal["multiple"]
Severity = Literal["fault", "warning", "note"]


class SweepFacts(Data):
    """Which sweep it was. Times are seconds since the epoch; stages sum the seconds inside handlers.

    ``overhead_share`` is the share of usable worker time that was not spent on the work itself (queue, store, planning,
    workers idle while a job was ready).
    """

    id: str
    name: str
    started: float | None
    finished: float | None
    toolchain: dict[str, str]
    seconds_by_stage: dict[str, float]
    overhead_share: Share | None


class RboSettings(Data):
    """Extrapolated rank-biased overlap (Webber et al. 2010): persistence and depth."""

    p: float
    depth: int


class Settings(Data):
    """How outputs and times were compared."""

    k: int
    rbo: RboSettings
    tau: str = "over ranks within the union of both top-k; null for a constant ranking"
    time_test: str = "Mann-Whitney U, two-sided"
    time_interval: str = "95 % bootstrap interval of the change of medians"
    bootstrap_seed: int
    parity_max_rel: float = Field(description="A conversion step beyond it is a silent fault")
    timing: dict[str, int] | None = None


class InputLeftOut(Data):
    """An input that could not be used."""

    id: str
    why: str


class Inputs(Data):
    """How many inputs every variant was given."""

    n: int
    left_out: list[InputLeftOut]


class ParityFacts(Data):
    """Outputs after against outputs before, on ``n`` seeded inputs. Of a conversion: the worst of its steps."""

    n: int
    n_invalid: int = 0
    max_abs: float | None
    max_rel: float | None
    top1_agreement: Share | None


class ConversionStep(Data):
    """One step of a conversion, by one tool. Fields are null where the step did not run to its end."""

    label: str = Field(description="source → target")
    tool: str | None = None
    version: str | None = None
    route: str | None = None
    opset: int | None = None
    normalised: list[str] = Field(default=[])
    seconds: float | None = None
    warnings: list[str] = Field(default=[])
    size_before: int | None = None
    size_after: int | None = None
    outcome: Outcome
    parity: ParityFacts | None = None
    verdict: Literal["clear", "guilty", "failed", "not run", "unchecked", "behind a fault"] = "unchecked"
    log: str | None = None


class Conversion(Data):
    """A conversion from ``source`` to ``target``. ``log`` is a path in the report folder.

    ``silent_fault`` is the position in ``steps`` of the step that changed outputs without failing.
    """

    id: str
    model: str
    source: str
    target: str
    chain: list[str] = Field(default=[])
    normalise: bool = True
    steps: list[ConversionStep]
    outcome: Outcome
    parity: ParityFacts | None
    silent_fault: int | None = None
    message: str | None = None
    log: str | None


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
    framework: str
    chain: list[str]
    conversion: str | None = None
    parent: str | None = None
    engine: str
    target: str | None
    opt_level: int | None
    schedule: str | None
    precision: str
    library: str
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
    n: int = 0
    n_invalid: int = 0
    accuracy_top1: Share | None
    accuracy_top5: Share | None
    load_ms: float | None
    size_bytes: int | None
    memory_peak_bytes: int | None
    time_ms: Times | None


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


class Table(Data):
    """A table: every row has one cell per column."""

    columns: list[str]
    rows: list[list[JsonValue]]


class Disagreement(Data):
    """Share of inputs on which two variants' labels differ, for every two listed: row against column."""

    model: str
    variants: list[str]
    top1: list[list[Share | None]]
    of: int = Field(description="Variants of this model that have labels; not all are listed where there are many")


class Finding(Data):
    """Something a person should know, in plain words. ``kind`` is for machines; refs name what it is about."""

    severity: Severity
    kind: str
    text: str
    value: float | None = None
    variants: list[str] = Field(default=[])
    conversions: list[str] = Field(default=[])
    inputs: list[str] = Field(default=[])
    log: str | None = None


class Gate(Data):
    """A limit of the study, and whether it held."""

    name: str
    limit: float
    value: float | None
    ok: bool
    detail: str | None = None


class Report(Data):
    """Everything a sweep found."""

    schema_: Literal["deltann.report/1"] = Field(default="deltann.report/1", alias="schema")
    sweep: SweepFacts
    settings: Settings
    inputs: Inputs
    conversions: list[Conversion]
    variants: list[Variant]
    pairs: list[Pair]
    disagreement: list[Disagreement] = Field(default=[])
    questions: dict[str, Table]
    findings: list[Finding]
    gates: list[Gate]
    study: dict[str, Any] = Field(default={}, description="The study as it was run")

    model_config = Data.model_config | {"populate_by_name": True, "serialize_by_alias": True}

    @property
    def gates_ok(self) -> bool:
        """Whether every gate held."""
        return all(gate.ok for gate in self.gates)
