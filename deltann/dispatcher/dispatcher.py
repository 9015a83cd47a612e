"""The dispatcher's loop: one of several holds a lock in Redis and sends what is ready; the others stand by."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, defaultdict

import redis

from deltann import logs
from deltann.dispatcher.lost import Losses
from deltann.dispatcher.run import URGENT, USUAL, SweepRun
from deltann.dispatcher.troubles import Troubles
from deltann.dispatcher.window import shares
from deltann.errors import DeltannError, QueueError, StoreAwayError, StoreError
from deltann.job import Job, JobMessage
from deltann.queue import Lease, Publisher, connect, names
from deltann.queue.connection import explained
from deltann.store import ArtifactStore
from deltann.store.layout import read_done, resolve_graph, sweep_key, sweep_of
from deltann.sweep.planner import Planner, StudyPlanner
from deltann.worker.report import Report

WINDOW = 128
"""Jobs sent to a queue and not settled, of one priority, at most: enough to keep workers busy, little to lose."""
MAX_LOST = 3
"""Lost leases after which a job is parked."""

_LOOK_S = 2.0
_AGAIN_S = 1.0
"""After so long what seems lost is looked at again: time enough for a worker to take the lease of what it was sent."""
_PUBLISH_S = 0.5
_RETRY_S = 1.0
_CALM_S = 30.0
_DRAIN = 500
_log = logging.getLogger(__name__)


class Dispatcher:
    """Sends ready jobs, settles what cannot run, makes good what is lost.

    Args:
        store: with plans and done records, which are all of its state.
        redis_url: of the queue.
        planner: makes plans of studies.
        window: jobs in flight per queue.
        max_lost: lost leases after which a job is parked.
    """

    def __init__(
        self,
        store: ArtifactStore,
        redis_url: str,
        planner: Planner | None = None,
        *,
        window: int = WINDOW,
        max_lost: int = MAX_LOST,
    ) -> None:
        self._store, self._url, self._planner = store, redis_url, planner or StudyPlanner()
        self._window, self._max_lost = window, max_lost
        self._redis = connect(redis_url)
        self._publisher = Publisher(redis_url)
        self._runs: dict[str, SweepRun] = {}
        self._dropped: dict[str, str] = {}
        self._troubles = Troubles(max_lost)
        self._losses = Losses(self._redis, self._publisher, self._troubles)
        self._running: dict[str, Counter[str]] = defaultdict(Counter)
        self._looked = self._published = 0.0

    def run(self, stop: threading.Event) -> None:
        """Work until ``stop``, through losses of Redis and of the store."""
        failed, began = 0, time.monotonic()
        lease = Lease(self._redis, names.LEADER)
        while not stop.is_set():
            failed = failed if time.monotonic() - began < _CALM_S else 0
            began = time.monotonic()
            try:
                with explained(self._url):
                    if not lease.take():
                        stop.wait(_RETRY_S)
                        continue
                    try:
                        self._lead(lease, stop)
                    finally:
                        lease.release()
            except QueueError as error:
                _log.warning("%s", error)
                stop.wait(_RETRY_S)
            except StoreAwayError as error:
                _log.warning("%s", error)
                stop.wait(_RETRY_S)
            except StoreError as error:
                _log.error("%s", error)
                failed += 1
                if failed >= MAX_LOST:
                    self._fail_all(str(error))
                stop.wait(_RETRY_S)

    def _lead(self, lease: Lease, stop: threading.Event) -> None:
        self._runs.clear()
        self._losses.clear()
        self._looked = 0.0
        while not stop.is_set():
            if time.monotonic() - self._looked > (_AGAIN_S if self._losses.suspected else _LOOK_S):
                if not lease.renew():
                    return
                self._look()
                self._looked = time.monotonic()
            self._send()
            if time.monotonic() - self._published > _PUBLISH_S:
                self._publish()
            self._listen(_PUBLISH_S)

    def _listen(self, seconds: float) -> None:
        """Take the reports that have come, waiting a moment for the first."""
        first = self._redis.blpop([names.SETTLED], timeout=seconds)
        if first is None:
            return
        more = self._redis.lpop(names.SETTLED, _DRAIN) or []
        for text in [first[1], *more]:
            if text == names.WAKE:
                self._looked = 0.0
            else:
                report = Report.model_validate_json(text)
                with logs.bound(sweep=sweep_of(report.graph), job=names.task_id(report.graph, report.index)):
                    self._apply(report)

    def _apply(self, report: Report) -> None:
        run = self._runs.get(sweep_of(report.graph))
        if run is None or run.graph.name != report.graph:
            return
        key, queue = (report.graph, report.index), run.graph.jobs[report.index].queue
        if report.outcome is not None:
            self._troubles.settled(key, queue)
            run.settle(report.index, report.outcome)
        elif report.trouble is not None and report.index in run.graph.sent and self._troubles.tell(key, queue):
            self._give_up(run, report.trouble)
        self._drop_ended(run)

    def _look(self) -> None:
        """Look at the store and at Redis for what no report has told."""
        active = {key.removeprefix("active/") for key in self._store.list("active/")}
        for sid in self._dropped.keys() - active:
            del self._dropped[sid]
        for sid in active - self._runs.keys():
            if sid not in self._dropped or self._redis.get(names.status(sid)) is None:
                self._dropped.pop(sid, None)
                with logs.bound(sweep=sid):
                    self._open(sid)
        for run in list(self._runs.values()):
            with logs.bound(sweep=run.sid):
                if self._store.exists(sweep_key(run.sid, "cancelled")):
                    run.finish("cancelled")
                else:
                    self._find_lost(run)
                self._drop_ended(run)

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
        graph, now = run.graph, time.monotonic()
        for queue in graph.queues():
            if self._publisher.depth(queue) == 0:
                continue
            waiting = self._publisher.queued(queue)
            again: list[Job] = graph.take(queue, len(graph.jobs), now)
            for job in reversed(again):
                if names.task_id(graph.name, job.index) not in waiting:
                    graph.take_back(job.index)

    def _send(self) -> None:
        """Fill the window of every queue, one for what is urgent and one for all else, shared by the sweeps."""
        for priority in (URGENT, USUAL):
            graphs = [run.graph for run in self._runs.values() if run.priority == priority]
            for queue in sorted({queue for graph in graphs for queue in graph.queues()}):
                sent = [graph.sent_per_queue[queue] for graph in graphs]
                ready = [graph.ready(queue) for graph in graphs]
                for graph, count in zip(graphs, shares(self._window, sent, ready), strict=True):
                    jobs = graph.take(queue, count, time.monotonic())
                    hurried = [job for job in jobs if job.index in graph.hurried]
                    usual = [job for job in jobs if job.index not in graph.hurried]
                    for some, its in ((hurried, URGENT), (usual, priority)):
                        if some:
                            self._publisher.send((message_of(graph.name, job) for job in some), its)

    def _find_lost(self, run: SweepRun) -> None:
        """Send again what is lost; park what is lost too often."""
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

    def _publish(self) -> None:
        for run in self._runs.values():
            status = run.status(self._running[run.sid])
            self._redis.set(names.status(run.sid), status.model_dump_json(), ex=60)
        self._published = time.monotonic()

    def _fail_all(self, why: str) -> None:
        """The store has failed for good: tell everybody who waits."""
        for run in list(self._runs.values()):
            self._give_up(run, why)
            try:
                self._drop_ended(run)
            except redis.RedisError as error:
                _log.warning("%s", error)


def message_of(graph: str, job: Job) -> JobMessage:
    """The message of a job: as little of it as a worker needs."""
    return JobMessage(
        sweep=graph,
        index=job.index,
        job=job.model_copy(update={"after": ()}),
        queue=job.queue,
        ordered=bool(job.after),
    )
