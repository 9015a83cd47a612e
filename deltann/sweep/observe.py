"""The status of a sweep, read from what the store holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from deltann.dispatcher.counts import KindCounts, merge_counts
from deltann.dispatcher.graph import GraphState
from deltann.errors import NotFoundError
from deltann.job import Done, Job, JobResult
from deltann.outcome import Outcome
from deltann.store import ArtifactStore
from deltann.store.layout import read_all_done, read_plan, read_result, resolve_graph, sweep_key
from deltann.sweep.model import Failure, Submitted, SweepState, SweepStatus

ANALYSIS = "analyze"
REPORT = "report"
KEPT_FAILURES = 20
"""Failures that a status tells of."""


def read_submitted(store: ArtifactStore, sid: str) -> Submitted:
    """The record of a sweep's submission.

    Raises:
        NotFoundError: if there is no such sweep.
    """
    data = store.get(sweep_key(sid, "submitted"))
    if data is None:
        raise NotFoundError(
            f"There is no sweep {sid!r} in the store {store.url}; `deltann sweep list` names those there are."
        )
    return Submitted.model_validate_json(data)


def read_status(store: ArtifactStore, sid: str) -> SweepStatus:
    """The status of a sweep that no dispatcher is heard of.

    Raises:
        NotFoundError: if there is no such sweep.
    """
    ended = store.get(sweep_key(sid, "ended"))
    if ended is not None:
        return SweepStatus.model_validate_json(ended)
    submitted = read_submitted(store, sid)
    counts: dict[str, KindCounts] = {}
    failures: list[Failure] = []
    state: SweepState = "queued"
    for graph, name in ((resolve_graph(sid), "resolving"), (sid, "running")):
        plan = read_plan(store, graph)
        if plan is None:
            break
        done = read_all_done(store, graph)
        counts = merge_counts(counts, GraphState(graph, plan, done).counts())
        failures += latest_failures(store, plan.jobs, done)
        if done:
            state = "resolving" if name == "resolving" else "running"
    if store.exists(sweep_key(sid, "cancelled")):
        state = "cancelled"
    return SweepStatus(
        id=sid,
        name=submitted.name,
        state=state,
        counts=counts,
        started=submitted.time,
        failures=tuple(failures[-KEPT_FAILURES:]),
    )


def latest_failures(store: ArtifactStore, jobs: Sequence[Job], done: Mapping[int, Done]) -> list[Failure]:
    """What failed last in a plan, the newest last; what was skipped for it left out."""
    failed = [i for i, record in done.items() if not record.outcome.usable and record.outcome != Outcome.SKIPPED]
    return [
        failure_of(store, jobs[index], done[index].outcome, done[index].result_key)
        for index in sorted(failed, key=lambda i: done[i].finished)[-KEPT_FAILURES:]
    ]


def failure_of(store: ArtifactStore, job: Job, outcome: Outcome, result_key: str | None) -> Failure:
    """A failed job as a person reads it."""
    result = read_result(store, result_key) if result_key is not None else None
    message = result.error.message if result is not None and result.error is not None else "no message was recorded"
    return Failure(label=job.label or f"{job.kind} {job.index}", outcome=outcome, message=message)


def analysis_of(store: ArtifactStore, jobs: Iterable[Job], done: dict[int, Done]) -> JobResult | None:
    """The result of a plan's analysis, where it has one that ended."""
    for job in jobs:
        if job.kind == ANALYSIS and job.index in done:
            key = done[job.index].result_key
            return read_result(store, key) if key is not None else None
    return None
