"""From a job to its settled result: reuse what is stored, else compute it in a child and store it."""

from __future__ import annotations

import logging
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from deltann import tracing
from deltann.errors import NotFoundError, StoreAwayError, StoreError, WorkError, first_line
from deltann.fleet.device import describe_device
from deltann.job import Done, Job, JobError, JobResult, WorkerInfo
from deltann.service import Kind, Service
from deltann.signing import NO_KEYS, Keys, is_signed
from deltann.store import ArtifactStore
from deltann.store.layout import read_result, replace_result, write_result
from deltann.worker.children import Children
from deltann.worker.hostlock import HostLock
from deltann.worker.keys import once_key, result_key, toolchain_of
from deltann.worker.process import Ended
from deltann.worker.wire import Reply

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settled:
    """The result that stands for a job, and whether it was there before."""

    result: JobResult
    reused: bool
    started: float


def describe_host(pool: str | None, device: str = "") -> WorkerInfo:
    """What this worker is. The device is the processor's own name where none is given."""
    return WorkerInfo(host=platform.node(), pool=pool, device=device or describe_device().cpu, pid=os.getpid())


class Settler:
    """Computes jobs of one service, or finds their results.

    Args:
        service: whose kinds they are.
        store: where results are.
        children: runs the handlers.
        lock: of this host.
        worker: who we are.
        threads: of a child whose job does not say how many it wants.
        keys: what it signs with, and whose signatures it takes.
    """

    def __init__(
        self,
        service: Service,
        store: ArtifactStore,
        children: Children,
        lock: HostLock,
        worker: WorkerInfo,
        threads: int = 1,
        keys: Keys = NO_KEYS,
    ) -> None:
        self._service, self._store, self._children = service, store, children
        self._lock, self._worker, self._threads, self._keys = lock, worker, threads, keys
        self.deadline: float | None = None
        """Monotonic time by which the child must have ended; None while nothing is computed."""

    def settle(
        self,
        graph: str,
        job: Job,
        inputs: Mapping[str, JobResult],
        *,
        after: Sequence[Done] = (),
        context: str = "",
        again: bool = True,
        given_up: Callable[[], bool] = lambda: False,
    ) -> Settled | None:
        """The result of a job; None where it was given up.

        Args:
            graph: of the job; a result that is not to be used again is kept apart by it.
            job: what to do.
            inputs: results of its needs by role.
            after: done records of the jobs it comes after.
            context: digest of the plan's context, for a job that comes after others.
            again: it may have been begun before, so that there may be a result of it that others are not to use.
            given_up: asked a few times a second; true ends it.

        Raises:
            StoreError: if the store is not there, is full or refuses.
            WorkError: if this worker does not know such a job.
        """
        started = time.time()
        try:
            kind = self._service.kind(job.kind)
            params = kind.params.model_validate(job.params)
        except (NotFoundError, ValidationError) as error:
            raise WorkError(
                f"A worker cannot run {job.label or job.kind} (job {job.index} of {graph}): {first_line(error)}. It is "
                "of another version of DeltaNN. Install the same version everywhere and submit the sweep again."
            ) from error
        toolchain = toolchain_of(kind, params)
        signer = self._keys.signer if kind.signed else None
        key = result_key(
            kind,
            job,
            inputs=inputs,
            toolchain=toolchain,
            worker=self._worker,
            signer=signer.public if signer else None,
            after=after,
            context=context,
        )
        for known in (key, once_key(key, graph, job.index)) if again else (key,):
            stored = read_result(self._store, known)
            if stored is not None and self._counts(kind, known, stored):
                return Settled(stored, True, started)
        threads = getattr(params, "threads", None) or self._threads
        with self._lock.hold(exclusive=kind.exclusive, given_up=given_up) as held:
            if not held:
                return None
            self.deadline = time.monotonic() + kind.seconds + 30
            try:
                with tracing.span("child", kind=kind.name):
                    end, log = self._children.run(
                        graph,
                        job,
                        inputs,
                        affinity=kind.affinity(params),
                        threads=threads,
                        seconds=kind.seconds,
                        memory_mb=kind.memory_mb,
                        given_up=given_up,
                    )
            finally:
                self.deadline = None
        if end is None:
            return None
        result = self._result(graph, job, kind, key, end, log, started, threads, toolchain)
        return Settled(self._keep(kind, signer.signed(result) if signer else result), False, started)

    def _counts(self, kind: Kind, key: str, stored: JobResult) -> bool:
        """Whether a stored result may be used: of what is executed, those alone that a known compiler signed."""
        if not kind.signed or not self._keys.trusted:
            return True
        if stored.result_key == key and is_signed(stored, self._keys.trusted):
            return True
        _log.warning("the stored result %s of a %s job is not signed as it should be: done again", key, kind.name)
        return False

    def _keep(self, kind: Kind, result: JobResult) -> JobResult:
        """The result that stands: the first that was written, unless that may not be used."""
        stands = write_result(self._store, result)
        return stands if self._counts(kind, result.result_key, stands) else replace_result(self._store, result)

    @property
    def within_limits(self) -> bool:
        """False once a child has outlived every limit, which only a fault of ours lets happen."""
        return self.deadline is None or time.monotonic() < self.deadline

    def _result(
        self,
        graph: str,
        job: Job,
        kind: Kind,
        key: str,
        end: Reply | Ended,
        log: bytes,
        started: float,
        threads: int,
        toolchain: dict[str, str],
    ) -> JobResult:
        if isinstance(end, Reply):
            if end.trouble is not None:
                raise (StoreAwayError if end.away else StoreError)(end.trouble)
            repeatable, outcome, artifacts, data = end.repeatable, end.outcome, end.artifacts, end.data
            error = end.error
            work = end.work_seconds
        else:
            repeatable, outcome, artifacts, data = end.repeatable, end.outcome, {}, {}
            error = JobError(stage=kind.name, type=end.type, message=f"{job.label or kind.name}: {end.message}.")
            work = time.time() - started
        return JobResult(
            kind=kind.name,
            result_key=key if repeatable else once_key(key, graph, job.index),
            outcome=outcome,
            artifacts=artifacts,
            data=data,
            error=error,
            log=self._store.put_bytes(log, "log.txt") if log else None,
            toolchain=toolchain,
            worker=self._worker.model_copy(update={"threads": threads}),
            started=started,
            finished=time.time(),
            work_seconds=work,
        )
