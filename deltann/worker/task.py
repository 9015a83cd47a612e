"""What a worker does with a message: the protocol by which anything may die without losing or doubling work."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from typing import Any

import redis
from pydantic import ValidationError

from deltann import logs, tracing
from deltann.errors import StoreAwayError, StoreError, WorkError, first_line
from deltann.job import Done, JobMessage, Plan
from deltann.queue import names
from deltann.queue.keeper import Keeper
from deltann.store import ArtifactStore
from deltann.store.layout import read_done, read_plan, sweep_of, write_done
from deltann.worker.activity import Activity
from deltann.worker.cancelled import Cancellations
from deltann.worker.hold import Hold
from deltann.worker.needs import inputs_of, order_of
from deltann.worker.report import RETRY_S, Report, Reporter
from deltann.worker.settle import Settler

_log = logging.getLogger(__name__)
_LONGEST_S = 30.0


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
        self._hold: Hold | None = None
        self._ending = threading.Event()
        self._reporter = Reporter(client, self._ending)
        self._keeper = Keeper()
        self._cancellations = Cancellations(store)
        self._troubles = 0

    @property
    def busy(self) -> bool:
        """Whether a job is in hand."""
        return bool(self.activity.job)

    def __call__(self, body: dict[str, Any], sent: float | None = None, header: str | None = None) -> None:
        """Settle the job of a message; when this returns, the message is acknowledged.

        Args:
            body: of the message.
            sent: when that was.
            header: of the trace that it belongs to.
        """
        try:
            message = JobMessage.model_validate(body)
        except ValidationError as error:
            self._refuse(body, error)
            return
        graph, index = message.sweep, message.index
        sid, job = sweep_of(graph), names.task_id(graph, index)
        tracing.past("queue", sent, time.time(), header)
        with logs.bound(sweep=sid, job=job), tracing.span("job", sweep=sid, header=header, job=job):
            self._take(message)

    def _take(self, message: JobMessage) -> None:
        """Settle a job unless it is settled, cancelled or in other hands."""
        graph, index = message.sweep, message.index
        self.activity.begin(message.job.label if message.job and message.job.label else names.task_id(graph, index))
        try:
            if self._cancellations.stands(sweep_of(graph)):
                return
            done = read_done(self._store, graph, index)
            if done is not None:
                self._reporter.tell(Report(graph=graph, index=index, outcome=done.outcome))
                return
            hold = self._hold = Hold(self._redis, self._keeper, graph, index)
            if not hold.take(lambda: self._settler.within_limits):
                return  # another worker has it; should that one die, the dispatcher sends it again
            try:
                self._settle(message, hold)
            except Exception:
                # What failed here is not a worker that died over the job, which is what attempts count.
                hold.pardon()
                raise
            finally:
                hold.release()
            self._troubles = 0
        except StoreAwayError as error:
            _log.warning("%s job %d waits for the store, and is sent again: %s", graph, index, error)
            self._await_store()
        except WorkError as error:
            _log.error("%s job %d: %s", graph, index, error)
            self._trouble(graph, index, str(error))
        except redis.RedisError as error:
            _log.error("%s job %d: Redis failed, the dispatcher sends it again: %s", graph, index, error)
            self._reporter.await_redis()
        except Exception as error:
            _log.exception("%s job %d could not be settled", graph, index)
            trouble = (
                f"Job {index} of {graph} could not be settled: {type(error).__name__}: {first_line(error)}. This is a "
                "fault of DeltaNN, or an object in the store that cannot be read; the worker's log has the traceback."
            )
            self._trouble(graph, index, trouble)
        finally:
            self._hold = None
            self.activity.end()
            self.last_active = time.monotonic()

    def pardon(self) -> None:
        """This worker is told to end: should it be killed with a job in hand, that is not for the job."""
        self._ending.set()
        hold = self._hold
        if hold is not None:
            hold.pardon()

    def let_go(self) -> None:
        """This worker ends at once: the job in hand is to be sent again."""
        hold = self._hold
        self.pardon()
        if hold is not None:
            hold.release()

    @property
    def within_limits(self) -> bool:
        """False once the job in hand has outlived every limit."""
        return self._settler.within_limits

    def _settle(self, message: JobMessage, hold: Hold) -> None:
        graph, index, job = message.sweep, message.index, message.job
        began = time.time()
        if job is None:
            job = self._plan_of(graph).jobs[index]
        inputs = inputs_of(self._store, graph, job)
        after, context = order_of(self._store, graph, self._plan_of(graph), index) if message.ordered else ([], "")
        given_up = self._cancellations.watch(sweep_of(graph))
        settled = self._settler.settle(
            graph, job, inputs, after=after, context=context, again=hold.begun > 1, given_up=given_up
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
        again = ", as before" if done.reused else ""
        _log.info("%s: %s in %.2f s%s", job.label or job.kind, done.outcome, done.finished - done.started, again)
        counted = done if stands is done else None  # else another worker, which was given the job too, has counted it
        report = Report(graph=graph, index=index, outcome=stands.outcome)
        self._reporter.settled(report, hold, message.queue or job.queue, job.kind, counted)

    def _plan_of(self, graph: str) -> Plan:
        """The plan of a graph. Plans never change, so the last one is kept."""
        if self._plan is None or self._plan[0] != graph:
            plan = read_plan(self._store, graph)
            if plan is None:
                raise StoreError(f"The plan of {graph} is not in the store {self._store.url}; submit the sweep again.")
            self._plan = (graph, plan)
        return self._plan[1]

    def _refuse(self, body: dict[str, Any], error: ValidationError) -> None:
        """Say of a message that cannot be read, one of another version, that its job is not settled by this worker."""
        _log.error("a message cannot be read: %s", error)
        graph, index = body.get("sweep"), body.get("index")
        if isinstance(graph, str) and isinstance(index, int):
            trouble = (
                f"A worker cannot read the message of job {index} of {graph}: it is of another version of DeltaNN. "
                "Install the same version everywhere and submit the sweep again."
            )
            self._trouble(graph, index, trouble)

    def _trouble(self, graph: str, index: int, what: str) -> None:
        """Report trouble, and wait a while: a host on which all fails at once must not take the jobs of all others."""
        self._reporter.tell(Report(graph=graph, index=index, trouble=what))
        self._ending.wait(min(RETRY_S * 2**self._troubles, _LONGEST_S))
        self._troubles += 1

    def _await_store(self) -> None:
        """Return once the store answers, or this worker is to end."""
        while not self._ending.wait(RETRY_S):
            with suppress(StoreError):
                self._store.exists("ready")
                return
