"""What a worker does with a message: the protocol by which anything may die without losing or doubling work."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import redis

from deltann.base import Data
from deltann.errors import StoreError
from deltann.job import Done, JobMessage, Plan
from deltann.outcome import Outcome
from deltann.queue import names
from deltann.queue.leases import Lease
from deltann.store import ArtifactStore
from deltann.store.layout import done_key, read_done, read_plan, sweep_key, sweep_of, write_done
from deltann.worker.settle import Settler, inputs_of, order_of

_log = logging.getLogger(__name__)
_LOOK_S = 2.0


class Report(Data):
    """What a worker tells the dispatcher: job ``index`` of ``graph`` is settled, or could not be for ``trouble``."""

    graph: str
    index: int
    outcome: Outcome | None = None
    trouble: str | None = None


class JobTask:
    """The body of the Celery task.

    Args:
        client: Redis.
        store: the artifact store.
        settler: computes.
    """

    def __init__(self, client: redis.Redis, store: ArtifactStore, settler: Settler) -> None:
        self._redis, self._store, self._settler = client, store, settler
        self._plan: tuple[str, Plan] | None = None
        self.busy = False
        self.last_active = time.monotonic()

    def __call__(self, body: dict[str, Any]) -> None:
        """Settle the job of a message; when this returns, the message is acknowledged."""
        message = JobMessage.model_validate(body)
        graph, index = message.sweep, message.index
        self.busy = True
        try:
            if self._store.exists(sweep_key(sweep_of(graph), "cancelled")):
                return
            if self._store.exists(done_key(graph, index)):
                self._report_done(graph, index)
                return
            lease = Lease(self._redis, names.lease(graph, index))
            if not lease.take():
                return  # another worker has it; should that one die, the dispatcher sends it again
            self._redis.hincrby(names.attempts(graph), str(index), 1)
            lease.keep(lambda: self._settler.within_limits)
            try:
                self._settle(message)
            finally:
                with suppress(redis.RedisError):
                    lease.release()
        except StoreError as error:
            _log.error("%s job %d: %s", graph, index, error)
            self._tell(Report(graph=graph, index=index, trouble=str(error)))
        except redis.RedisError as error:
            _log.error("%s job %d: Redis failed, the dispatcher sends it again: %s", graph, index, error)
        finally:
            self.busy = False
            self.last_active = time.monotonic()

    def _settle(self, message: JobMessage) -> None:
        graph, index, job = message.sweep, message.index, message.job
        began = time.time()
        if job is None:
            job = self._plan_of(graph).jobs[index]
        inputs = inputs_of(self._store, graph, job)
        after, context = order_of(self._store, graph, self._plan_of(graph), index) if message.ordered else ([], "")
        settled = self._settler.settle(
            graph, job, inputs, after=after, context=context, given_up=self._cancelled(sweep_of(graph))
        )
        if settled is None:
            return
        result = settled.result
        done = Done(
            outcome=result.outcome,
            result_key=result.result_key,
            reused=settled.reused,
            started=began,
            finished=time.time(),
        )
        stands = write_done(self._store, graph, index, done)
        self._tell(Report(graph=graph, index=index, outcome=stands.outcome))

    def _plan_of(self, graph: str) -> Plan:
        """The plan of a graph. Plans never change, so the last one is kept."""
        if self._plan is None or self._plan[0] != graph:
            plan = read_plan(self._store, graph)
            if plan is None:
                raise StoreError(f"The plan of {graph} is not in the store {self._store.url}; submit the sweep again.")
            self._plan = (graph, plan)
        return self._plan[1]

    def _cancelled(self, sid: str) -> Callable[[], bool]:
        """Whether the sweep was cancelled, looked up every two seconds at most."""
        looked = time.monotonic()

        def ask() -> bool:
            nonlocal looked
            if time.monotonic() - looked < _LOOK_S:
                return False
            looked = time.monotonic()
            return self._store.exists(sweep_key(sid, "cancelled"))

        return ask

    def _report_done(self, graph: str, index: int) -> None:
        done = read_done(self._store, graph, index)
        if done is not None:
            self._tell(Report(graph=graph, index=index, outcome=done.outcome))

    def _tell(self, report: Report) -> None:
        """Report; a report that is lost is made good by the dispatcher's own look at the store."""
        try:
            self._redis.rpush(names.SETTLED, report.model_dump_json())
        except redis.RedisError as error:
            _log.warning("%s could not be reported: %s", report, error)
