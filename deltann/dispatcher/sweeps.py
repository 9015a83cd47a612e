"""The sweeps in the hands of the active dispatcher: taken up, told what happens, looked after and dropped."""

from __future__ import annotations

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Collection

import redis

from deltann import logs
from deltann.dispatcher.lost import Losses
from deltann.dispatcher.run import SweepRun
from deltann.dispatcher.troubles import Troubles
from deltann.errors import DeltannError, StoreError
from deltann.queue import Publisher, names
from deltann.store import ArtifactStore
from deltann.store.layout import read_done, resolve_graph, sweep_key, sweep_of
from deltann.sweep.planner import Planner
from deltann.worker.report import Report

_log = logging.getLogger(__name__)


class Sweeps:
    """What a dispatcher knows of its sweeps. All of it is made anew from the store and Redis by ``clear`` and ``look``.

    Args:
        store: with plans and done records.
        client: Redis.
        publisher: knows what is in the queues.
        planner: makes plans of studies.
        max_lost: lost leases after which a job is parked.
        left: sweeps that are let be, until they are submitted again.
    """

    def __init__(
        self,
        store: ArtifactStore,
        client: redis.Redis,
        publisher: Publisher,
        planner: Planner,
        max_lost: int,
        left: Collection[str] = (),
    ) -> None:
        self._store, self._redis, self._publisher = store, client, publisher
        self._planner, self._max_lost = planner, max_lost
        self._runs: dict[str, SweepRun] = {}
        self._dropped: dict[str, str] = dict.fromkeys(left, "")
        self._troubles = Troubles(max_lost)
        self._losses = Losses(client, publisher, self._troubles)
        self._running: dict[str, Counter[str]] = defaultdict(Counter)

    @property
    def runs(self) -> list[SweepRun]:
        """Those that are worked on."""
        return list(self._runs.values())

    @property
    def suspected(self) -> bool:
        """Whether something seems lost, which the next look decides."""
        return self._losses.suspected

    def clear(self) -> None:
        """Forget what is known: another dispatcher may have led meanwhile."""
        self._runs.clear()
        self._losses.clear()

    def apply(self, report: Report) -> None:
        """Take note of a worker's report."""
        run = self._runs.get(sweep_of(report.graph))
        if run is None or run.graph.name != report.graph:
            return
        key, queue = (report.graph, report.index), run.graph.queue_of[report.index]
        if report.outcome is not None:
            self._troubles.settled(key, queue)
            run.settle(report.index, report.outcome)
        elif report.trouble is not None and report.index in run.graph.sent and self._troubles.tell(key, queue):
            self._give_up(run, report.trouble)
        self._drop_ended(run)

    def look(self) -> None:
        """Look at the store and at Redis for what no report has told."""
        active = {key.removeprefix("active/") for key in self._store.list("active/")}
        for sid in self._dropped.keys() - active:
            del self._dropped[sid]
        for sid in active - self._runs.keys():
            if sid not in self._dropped or self._redis.get(names.status(sid)) is None:
                self._dropped.pop(sid, None)
                with logs.bound(sweep=sid):
                    self._open(sid)
        for run in self.runs:
            with logs.bound(sweep=run.sid):
                if self._store.exists(sweep_key(run.sid, "cancelled")):
                    run.finish("cancelled")
                else:
                    self._find_lost(run)
                self._drop_ended(run)

    def publish(self) -> None:
        """Write the status of every sweep into Redis, for whoever watches."""
        for run in self.runs:
            status = run.status(self._running[run.sid])
            self._redis.set(names.status(run.sid), status.model_dump_json(), ex=60)

    def fail_all(self, why: str) -> None:
        """The store has failed for good: tell everybody who waits."""
        for run in self.runs:
            self._give_up(run, why)
            try:
                self._drop_ended(run)
            except redis.RedisError as error:
                _log.warning("%s", error)

    def _open(self, sid: str) -> None:
        try:
            run = SweepRun(sid, self._store, self._planner)
        except StoreError:
            raise
        except (DeltannError, ValueError) as error:
            _log.error("the sweep %s cannot be read and is left alone: %s", sid, error)
            self._dropped[sid] = str(error)
            return
        self._runs[sid] = run
        _log.info("the sweep %s of %d jobs is taken up, %s", sid, len(run.graph.jobs), run.state)
        self._adopt_queued(run)
        self._drop_ended(run)

    def _adopt_queued(self, run: SweepRun) -> None:
        """What already waits in a queue, from before this dispatcher led, is not sent a second time."""
        for queue in run.graph.queues():
            waiting = map(names.job_of, self._publisher.queued(queue))
            run.graph.adopt([index for graph, index in waiting if graph == run.graph.name], time.monotonic())

    def _find_lost(self, run: SweepRun) -> None:
        """Have what is lost sent again; park what is lost too often."""
        graph, name = run.graph, run.graph.name
        lost, self._running[run.sid] = self._losses.look(graph)
        for index in lost:
            if run.graph is not graph:
                return  # settling one of them has brought the sweep to its next graph
            done = read_done(self._store, name, index)
            if done is not None:
                run.settle(index, done.outcome)
                continue
            begun = int(self._redis.hget(names.attempts(name), str(index)) or 0)
            if begun >= self._max_lost and (name, index) not in self._troubles:
                _log.warning("%s job %d was lost %d times and is parked", name, index, begun)
                run.park(index, begun)
            elif index in run.graph.sent:
                _log.warning("%s job %d is lost and sent again", name, index)
                run.graph.take_back(index, lost=True)

    def _give_up(self, run: SweepRun, why: str) -> None:
        """End a sweep that cannot go on; in Redis at least, where the store cannot be written."""
        try:
            run.finish("failed", why)
        except StoreError as error:
            _log.error("%s", error)

    def _drop_ended(self, run: SweepRun) -> None:
        if run.end is None:
            return
        self._redis.set(names.status(run.sid), run.end.model_dump_json(), ex=24 * 3600)
        self._runs.pop(run.sid, None)
        _log.info("the sweep %s has ended: %s", run.sid, " ".join(filter(None, (run.end.state, run.end.error))))
        self._running.pop(run.sid, None)
        self._dropped[run.sid] = run.end.error or ""
        self._troubles.forget((run.sid, resolve_graph(run.sid)))
