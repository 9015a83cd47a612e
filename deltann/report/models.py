"""The report contract ``deltann.report/1``.

Shares are 0..1. A number that could not be computed is null, never NaN or Inf. In a pair, ``a`` is the reference, the
earlier in ``variants``; changes are (b − a) / a × 100, so that a positive change of time means that b is slower.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from deltann.base import Data
from deltann.report.attacks import AttackReport
from deltann.report.conversions import Conversion, ConversionStep, ParityFacts
from deltann.report.faults import StepFault
from deltann.report.mutants import MutationReport
from deltann.report.pairs import MAX_LISTED, MeanMax, OutputErrors, Pair, PairAxis
from deltann.report.questions import Questions, Sensitivity, Strongest, Table
from deltann.report.share import Share
from deltann.report.training import TrainingReport
from deltann.report.variants import Times, Variant, VariantError

__all__ = [
    "MAX_LISTED", "SCHEMA_NAME", "Conversion", "ConversionStep", "Disagreement", "Finding", "Gate", "InputLeftOut",
    "Inputs", "MeanMax", "OutputErrors", "Pair", "PairAxis", "ParityFacts", "Questions", "RboSettings", "Report",
    "Sensitivity", "Settings", "Severity", "Share", "StepFault", "Strongest", "SweepFacts", "Table", "Times", "Variant",
    "VariantError",
]  # fmt: skip

SCHEMA_NAME = "deltann.report/1"

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
    own: dict[str, int] = Field(default={}, description="By model: of those with inputs of their own")
    left_out: list[InputLeftOut]


class Disagreement(Data):
    """Share of inputs on which labels differ, for every two groups of variants: row against column.

    The variants of a group give the same first label for every input.
    """

    model: str
    groups: list[list[str]]
    top1: list[list[Share | None]]
    of: int = Field(description="Variants of this model that have labels; where groups are many, not all are listed")


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
    """A limit of the study, and whether it held. ``variants`` gave the value: two where it is a pair's."""

    name: str
    limit: float
    value: float | None
    ok: bool
    detail: str | None = None
    variants: list[str] = Field(default=[])


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
    questions: Questions
    findings: list[Finding]
    gates: list[Gate]
    faults: list[StepFault] = Field(default=[], description="Conversion steps that got nodes wrong")
    mutation: MutationReport | None = Field(default=None, description="Null for a sweep without mutants")
    training: TrainingReport | None = Field(default=None, description="Null for a sweep that trains nothing")
    attacks: AttackReport | None = Field(default=None, description="Null for a sweep without attacks")
    study: dict[str, Any] = Field(default={}, description="The study as it was run")

    model_config = Data.model_config | {"populate_by_name": True, "serialize_by_alias": True}

    @property
    def unmutated(self) -> Report:
        """The same without the variants that are mutants, and their pairs: those are no faults of what is studied."""
        variants = [variant for variant in self.variants if variant.mutation is None]
        known = {variant.id for variant in variants}
        pairs = [pair for pair in self.pairs if pair.a in known and pair.b in known]
        return self.model_copy(update={"variants": variants, "pairs": pairs})

    @property
    def gates_ok(self) -> bool:
        """Whether every gate held."""
        return all(gate.ok for gate in self.gates)
