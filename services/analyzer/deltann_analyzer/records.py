"""What a sweep left in the store: its plans, done records and results, read as they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from deltann.errors import NotFoundError
from deltann.job import Done, Job, JobResult, Plan
from deltann.outcome import Outcome
from deltann.plan.context import SweepContext
from deltann.store.base import ArtifactStore
from deltann.store.layout import read_all_done, read_plan, read_results, resolve_graph

EXCLUSIVE_KINDS = frozenset({"time"})
"""Kinds that hold the host to themselves."""


@dataclass(frozen=True)
class Graph:
    """One plan with what became of it."""

    plan: Plan
    done: dict[int, Done] = field(default_factory=dict)
    results: dict[int, JobResult] = field(default_factory=dict)

    def job(self, index: int) -> Job:
        """The job with that index."""
        return self.plan.jobs[index]

    def outcome(self, index: int) -> Outcome:
        """How a job ended; a job that was not settled (a cancelled sweep) counts as skipped."""
        return self.done[index].outcome if index in self.done else Outcome.SKIPPED

    def result(self, index: int | None) -> JobResult | None:
        """The result of a job, where it has one."""
        return None if index is None else self.results.get(index)

    def cause(self, index: int) -> int:
        """The job that made this one end as it did: itself, or what a skipped one lost."""
        while self.outcome(index) is Outcome.SKIPPED and index in self.done:
            because = self.done[index].because
            if because is None:
                break
            index = because
        return index

    def first_failure(self, chain: Iterable[int]) -> int | None:
        """The job whose failure lost a chain of jobs, in order; None where all gave something usable."""
        for index in chain:
            if not self.outcome(index).usable:
                return self.cause(index)
        return None


@dataclass(frozen=True)
class Records:
    """A sweep's context, its main graph, and the graph of its resolve jobs where it is kept."""

    context: SweepContext
    graph: Graph
    resolve: Graph | None


def read_records(store: ArtifactStore, sweep: str) -> Records:
    """Everything that was recorded of a sweep.

    Raises:
        NotFoundError: if it is not planned, or a done record names a result that is gone.
    """
    graph = _read_graph(store, sweep)
    if graph is None:
        raise NotFoundError(f"The sweep {sweep} has no plan in {store.url}: submit it again.")
    context = SweepContext.model_validate(graph.plan.context)
    return Records(context, graph, _read_graph(store, resolve_graph(sweep)))


def _read_graph(store: ArtifactStore, name: str) -> Graph | None:
    plan = read_plan(store, name)
    if plan is None:
        return None
    done = read_all_done(store, name)
    return Graph(plan, done, read_results(store, done))
