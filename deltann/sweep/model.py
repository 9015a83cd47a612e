"""What is known of a sweep while it runs and afterwards, and who can be asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Protocol

from pydantic import Field, JsonValue

from deltann.artifact import ArtifactRef
from deltann.base import Data
from deltann.dispatcher.counts import KindCounts
from deltann.outcome import Outcome
from deltann.spec.models import Study

SweepState = Literal["queued", "resolving", "planning", "running", "analysing", "done", "failed", "cancelled"]
ENDED: tuple[SweepState, ...] = ("done", "failed", "cancelled")


class Failure(Data):
    """A job that failed: what a person calls it, how it ended and why."""

    label: str
    outcome: Outcome
    message: str


class SweepStatus(Data):
    """How far a sweep is. Times are seconds since the epoch.

    ``counts`` is by job kind, of both graphs once they are planned. ``failures`` are the latest, newest last; skipped
    jobs are not among them. ``error`` is why a sweep failed, as one paragraph; ``bad_input`` says that what was given
    is to blame (exit code 2, else 3). ``analysis`` is the data of the finished analysis (gates, summary).
    """

    id: str
    name: str
    state: SweepState
    counts: dict[str, KindCounts] = Field(default_factory=dict)
    started: float = 0.0
    finished: float | None = None
    failures: tuple[Failure, ...] = ()
    report: ArtifactRef | None = None
    analysis: dict[str, JsonValue] = Field(default_factory=dict)
    error: str | None = None
    bad_input: bool = False

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ENDED


class Submitted(Data):
    """The record of a sweep's submission. ``urgent``: a person waits for this, so it goes before what is usual."""

    name: str
    time: float = Field(ge=0)
    urgent: bool = False


class SweepBackend(Protocol):
    """Who takes sweeps: this process over store and queue, or a gateway over gRPC."""

    def submit(self, study: Study) -> str:
        """Submit a staged study; its sweep's id. The same study again goes on with the same sweep, or does nothing."""

    def status(self, sid: str) -> SweepStatus:
        """How far a sweep is. Raises NotFoundError if there is none."""

    def list_sweeps(self) -> list[SweepStatus]:
        """All sweeps, the latest first."""

    def cancel(self, sid: str) -> None:
        """Stop a sweep; what is computed is kept. Raises NotFoundError if there is none."""

    def watch(self, sid: str) -> Iterator[SweepStatus]:
        """The status now and at every change, until the sweep has ended."""

    def fetch_report(self, sid: str, out: Path) -> Path:
        """Write the report into a folder. Raises NotFoundError where there is none (yet)."""
