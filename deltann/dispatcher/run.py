"""One sweep as the dispatcher works on it: its current graph, its way from resolving to its end, its status."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Mapping

from deltann import tracing
from deltann.dispatcher.counts import KindCounts, merge_counts
from deltann.dispatcher.graph import GraphState
from deltann.dispatcher.parked import record_lost
from deltann.errors import DeltannError, InputError, StoreError
from deltann.job import Done
from deltann.kinds.train import TRAIN
from deltann.outcome import Outcome
from deltann.spec.models import Study
from deltann.store import ArtifactStore
from deltann.store.layout import (
    active_key,
    read_all_done,
    read_done,
    read_plan,
    read_results,
    resolve_graph,
    sweep_key,
    write_done,
    write_plan,
)
from deltann.sweep.model import Failure, SweepState, SweepStatus
from deltann.sweep.observe import (
    ANALYSIS,
    KEPT_FAILURES,
    REPORT,
    analysis_of,
    failure_of,
    latest_failures,
    read_submitted,
)
from deltann.sweep.planner import Planner

URGENT, USUAL = 0, 3
"""Priorities in the queue: the lower is served first."""

_log = logging.getLogger(__name__)


class SweepRun:
    """A sweep in the hands of the active dispatcher.

    Args:
        sid: of the sweep.
        store: what it is read from and written to.
        planner: makes its plan once everything is resolved.
    """

    def __init__(self, sid: str, store: ArtifactStore, planner: Planner) -> None:
        self.sid, self._store, self._planner = sid, store, planner
        self._submitted = read_submitted(store, sid)
        self._failures: deque[Failure] = deque(maxlen=KEPT_FAILURES)
        self._resolved: dict[str, KindCounts] = {}
        self.state: SweepState = "resolving"
        self.end: SweepStatus | None = None
        self.graph = self._load(resolve_graph(sid))
        self.advance()

    @property
    def priority(self) -> int:
        """Of its jobs. Resolving, which a whole sweep waits for, goes first, and so does what a person waits for."""
        return URGENT if self._submitted.urgent or self.graph.name != self.sid else USUAL

    def settle(self, index: int, outcome: Outcome) -> None:
        """A job of the current graph has ended, by a worker's report or by its done record."""
        if index in self.graph.outcomes:
            return
        if not outcome.usable:
            self._note_failure(index, outcome)
        self._record(self.graph.settle(index, outcome))
        self.advance()

    def park(self, index: int, times: int) -> None:
        """Give up a job whose workers died on it again and again."""
        done = record_lost(self._store, self.graph.name, self.graph.jobs[index], times)
        self.settle(index, done.outcome)

    def advance(self) -> None:
        """Go from one stage to the next as far as what is settled allows."""
        if self.end is None and self.graph.finished and self.graph.name != self.sid:
            with tracing.span("plan", sweep=self.sid):
                self._plan()
        if self.end is not None or self.graph.name != self.sid:
            return
        if self.graph.finished:
            self._finish()
        elif self.graph.finished_but(ANALYSIS):
            self.state = "analysing"

    def finish(self, state: SweepState, error: str | None = None, *, bad_input: bool = False) -> None:
        """End the sweep and write that down.

        Raises:
            StoreError: if it cannot be written; the sweep has ended for this dispatcher all the same.
        """
        self.state = state
        self.end = self.status().model_copy(update={"finished": time.time(), "error": error, "bad_input": bad_input})
        self._write_end()

    def status(self, running: Mapping[str, int] | None = None) -> SweepStatus:
        """The status now; ``running`` is how many of the sent jobs are leased, by kind."""
        if self.end is not None:
            return self.end
        return SweepStatus(
            id=self.sid,
            name=self._submitted.name,
            state=self.state,
            counts=merge_counts(self._resolved, self.graph.counts(running)),
            started=self._submitted.time,
            failures=tuple(self._failures),
        )

    def _load(self, name: str) -> GraphState:
        plan = read_plan(self._store, name)
        if plan is None:
            raise StoreError(f"The plan of {name} is not in the store {self._store.url}; submit the sweep again.")
        done = read_all_done(self._store, name)
        graph = GraphState(name, plan, done)
        self.graph = graph
        self._failures.extend(latest_failures(self._store, graph.jobs, done))
        self._record(graph.lost)
        return graph

    def _record(self, skipped: list[tuple[int, int]]) -> None:
        now = time.time()
        for index, because in skipped:
            done = Done(outcome=Outcome.SKIPPED, because=because, started=now, finished=now)
            write_done(self._store, self.graph.name, index, done)

    def _note_failure(self, index: int, outcome: Outcome) -> None:
        done = read_done(self._store, self.graph.name, index)
        key = done.result_key if done is not None else None
        self._failures.append(failure_of(self._store, self.graph.jobs[index], outcome, key))

    def _plan(self) -> None:
        """Everything is resolved: plan the sweep, once, or end it where something could not be resolved."""
        self.state = "planning"
        failed = [
            (i, outcome)
            for i, outcome in self.graph.outcomes.items()
            if not outcome.usable and self.graph.kinds[i] != TRAIN
        ]
        if failed:
            reasons = " ".join(f"{failure.label}: {failure.message}" for failure in self._failures)
            ours = {Outcome.CRASHED, Outcome.TIMED_OUT}
            self.finish("failed", reasons, bad_input=any(outcome not in ours for _, outcome in failed))
            return
        if read_plan(self._store, self.sid) is None:
            try:
                study = Study.model_validate_json(self._store.get(sweep_key(self.sid, "study")) or b"")
                results = read_results(self._store, read_all_done(self._store, self.graph.name))
                plan = self._planner.sweep(study, results)
            except StoreError:
                raise
            except DeltannError as error:
                self.finish("failed", str(error), bad_input=isinstance(error, InputError))
                return
            except Exception as error:
                _log.exception("planning the sweep %s failed", self.sid)
                self.finish(
                    "failed",
                    f"The sweep could not be planned: {type(error).__name__}, {error}. This is a fault "
                    "of DeltaNN; its log has the traceback.",
                )
                return
            write_plan(self._store, self.sid, plan)
        self._resolved = self.graph.counts()
        self.graph = self._load(self.sid)
        self.state = "running"

    def _finish(self) -> None:
        graph = self.graph
        jobs = [graph.jobs[index] for index, kind in enumerate(graph.kinds) if kind == ANALYSIS]
        records = ((job.index, read_done(self._store, self.sid, job.index)) for job in jobs)
        analysis = analysis_of(self._store, jobs, {index: done for index, done in records if done is not None})
        if analysis is not None and analysis.outcome.usable:
            self.state = "done"
            self.end = self.status().model_copy(
                update={
                    "finished": time.time(),
                    "report": analysis.artifacts.get(REPORT),
                    "analysis": analysis.data,
                }
            )
            self._write_end()
        elif jobs:
            why = analysis.error.message if analysis is not None and analysis.error is not None else "it left no result"
            self.finish("failed", f"The analysis failed: {why} What was computed is kept.")
        else:
            self.finish("done")

    def _write_end(self) -> None:
        assert self.end is not None
        self._store.put(sweep_key(self.sid, "ended"), self.end.model_dump_json().encode())
        self._store.delete(active_key(self.sid))
        end = self.end
        tracing.ended(self.sid, end.started, end.finished or time.time(), study=end.name, state=end.state)
