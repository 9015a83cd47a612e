"""What a worker does with a message: the protocol by which anything may die without losing or doubling work."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import redis
from pydantic import ValidationError

from deltann.base import Data
from deltann.errors import StoreError, first_line
from deltann.fleet import stats
from deltann.job import Done, JobMessage, Plan
from deltann.outcome import Outcome
from deltann.queue import names
from deltann.queue.leases import Lease
from deltann.store import ArtifactStore
from deltann.store.layout import done_key, read_done, read_plan, sweep_key, sweep_of, write_done
from deltann.worker.activity import Activity
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
        self.activity = Activity()
        self.last_active = time.monotonic()

    @property
    def busy(self) -> bool:
        """Whether a job is in hand."""
        return bool(self.activity.job)

    def __call__(self, body: dict[str, Any]) -> None:
        """Settle the job of a message; when this returns, the message is acknowledged."""
        try:
            message = JobMessage.model_validate(body)
        except ValidationError as error:
            self._refuse(body, error)
            return
        graph, index = message.sweep, message.index
        self.activity.begin(message.job.label if message.job and message.job.label else names.task_id(graph, index))
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
            except Exception:
                # What failed here is not a worker that died over the job, which is what attempts count.
                with suppress(redis.RedisError):
                    self._redis.hincrby(names.attempts(graph), str(index), -1)
                raise
            finally:
                with suppress(redis.RedisError):
                    lease.release()
        except StoreError as error:
            _log.error("%s job %d: %s", graph, index, error)
            self._tell(Report(graph=graph, index=index, trouble=str(error)))
        except redis.RedisError as error:
            _log.error("%s job %d: Redis failed, the dispatcher sends it again: %s", graph, index, error)
        except Exception as error:
            _log.exception("%s job %d could not be settled", graph, index)
            trouble = (
                f"Job {index} of {graph} could not be settled: {type(error).__name__}: {first_line(error)}. This is a "
                "fault of DeltaNN, or an object in the store that cannot be read; the worker's log has the traceback."
            )
            self._tell(Report(graph=graph, index=index, trouble=trouble))
        finally:
            self.activity.end()
            self.last_active = time.monotonic()

    @property
    def within_limits(self) -> bool:
        """False once the job in hand has outlived every limit."""
        return self._settler.within_limits

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
        self._count(message.queue or job.queue, job.kind, done)
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
            try:
                return self._store.exists(sweep_key(sid, "cancelled"))
            except StoreError as error:  # the job goes on: it may be over before the store has to be there again
                _log.warning("whether %s is cancelled is not known: %s", sid, error)
                return False

        return ask

    def _refuse(self, body: dict[str, Any], error: ValidationError) -> None:
        """Say of a message that cannot be read, one of another version, that its job is not settled by this worker."""
        _log.error("a message cannot be read: %s", error)
        graph, index = body.get("sweep"), body.get("index")
        if isinstance(graph, str) and isinstance(index, int):
            trouble = (
                f"A worker cannot read the message of job {index} of {graph}: it is of another version of DeltaNN. "
                "Install the same version everywhere and submit the sweep again."
            )
            self._tell(Report(graph=graph, index=index, trouble=trouble))

    def _count(self, queue: str, kind: str, done: Done) -> None:
        """Add a settled job to the counters that operators watch; one that Redis loses is lost to them alone."""
        with suppress(redis.RedisError), self._redis.pipeline(transaction=False) as pipe:
            seconds = done.finished - done.started
            stats.add(pipe, queue, kind, done.outcome, reused=done.reused, seconds=seconds)
            pipe.execute()

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
