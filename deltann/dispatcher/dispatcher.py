"""The dispatcher's loop: one of several holds a lock in Redis and sends what is ready; the others stand by."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection

from deltann import logs
from deltann.dispatcher.sending import fill_windows
from deltann.dispatcher.sweeps import Sweeps
from deltann.errors import QueueError, StoreAwayError, StoreError
from deltann.queue import Lease, Publisher, connect, names
from deltann.queue.connection import explained
from deltann.queue.keeper import Keeper
from deltann.store import ArtifactStore
from deltann.store.layout import sweep_of
from deltann.sweep.planner import Planner, StudyPlanner
from deltann.worker.report import Report

WINDOW = 128
"""Jobs sent to a queue and not settled, of one priority, at most: enough to keep workers busy, little to lose."""
MAX_LOST = 3
"""Lost leases after which a job is parked."""

LOOK_S = 2.0
_AGAIN_S = 1.0
"""After so long what seems lost is looked at again: time enough for a worker to take the lease of what it was sent."""
_PUBLISH_S = 0.5
_GATHER_S = 0.05
"""While the windows are full, so long for reports to gather: a turn for each would cost several times as much."""
_RETRY_S = 1.0
_CALM_S = 30.0
_STUCK_S = 1800.0
"""A dispatcher whose turn takes longer does not lead any more."""
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
        left: sweeps that are let be, until they are submitted again. Redis has to hold a status of each.
    """

    def __init__(
        self,
        store: ArtifactStore,
        redis_url: str,
        planner: Planner | None = None,
        *,
        window: int = WINDOW,
        max_lost: int = MAX_LOST,
        left: Collection[str] = (),
    ) -> None:
        self._url, self._window = redis_url, window
        self._redis = connect(redis_url)
        self._publisher = Publisher(redis_url)
        self._sweeps = Sweeps(store, self._redis, self._publisher, planner or StudyPlanner(), max_lost, left)
        self._looked = self._published = self._turned = 0.0

    def run(self, stop: threading.Event) -> None:
        """Work until ``stop``, through losses of Redis and of the store."""
        failed, began = 0, time.monotonic()
        lease, keeper = Lease(self._redis, names.LEADER), Keeper()
        while not stop.is_set():
            failed = failed if time.monotonic() - began < _CALM_S else 0
            began = time.monotonic()
            try:
                with explained(self._url):
                    if not lease.take():
                        stop.wait(_RETRY_S)
                        continue
                    self._turned = time.monotonic()
                    # Taking up a sweep of a million jobs takes longer than a lease stands.
                    keeper.keep(lease, lambda: time.monotonic() - self._turned < _STUCK_S)
                    try:
                        self._lead(lease, stop)
                    finally:
                        keeper.drop()
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
                    self._sweeps.fail_all(str(error))
                stop.wait(_RETRY_S)

    def _lead(self, lease: Lease, stop: threading.Event) -> None:
        sweeps = self._sweeps
        sweeps.clear()
        self._looked = 0.0
        while not stop.is_set():
            self._turned = time.monotonic()
            if time.monotonic() - self._looked > (_AGAIN_S if sweeps.suspected else LOOK_S):
                if not lease.renew():
                    return
                sweeps.look()
                self._looked = time.monotonic()
            full = fill_windows(sweeps.runs, self._publisher, self._window)
            if time.monotonic() - self._published > _PUBLISH_S:
                sweeps.publish()
                self._published = time.monotonic()
            if full:
                stop.wait(_GATHER_S)
            self._listen()

    def _listen(self) -> None:
        """Take the reports that have come; where there are none, wait a moment for the first."""
        taken = self._redis.lpop(names.SETTLED, _DRAIN)
        if not taken:
            first = self._redis.blpop([names.SETTLED], timeout=_PUBLISH_S)
            taken = [] if first is None else [first[1]]
        for text in map(str, taken):
            if text == names.WAKE:
                self._looked = 0.0
            else:
                report = Report.model_validate_json(text)
                with logs.bound(sweep=sweep_of(report.graph), job=names.task_id(report.graph, report.index)):
                    self._sweeps.apply(report)
