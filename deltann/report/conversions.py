"""The part of the report on conversions."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deltann.base import Data
from deltann.outcome import Outcome
from deltann.report.share import Share


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
    checked_by: str = Field(default="", description="The engine that ran the result for the parity check")
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
