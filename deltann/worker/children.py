"""Keeps child processes warm, one per affinity, so that a framework is not imported again for every job."""

from __future__ import annotations

import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path

from deltann.errors import StoreError
from deltann.job import Job, JobResult
from deltann.outcome import Outcome
from deltann.worker.folders import Home
from deltann.worker.process import ChildProcess, Ended
from deltann.worker.reaper import Reaper
from deltann.worker.trouble import full_disk, says_full, trouble_of
from deltann.worker.wire import Reply, Request

_WARM = 6
"""Children that are kept at most; the one that was used longest ago goes first."""

Affinity = tuple[str, int]
"""What a child is kept for: the kind's affinity, and the number of threads it was started with."""


class Children:
    """The child processes of one worker, of which one runs at a time. Use it as a context manager.

    Args:
        service: name or ``module:ATTRIBUTE``.
        store_url: of the store.
        cache: folder for verified copies; work folders are made beside them.
        pool: device pool of this worker.
        trusted: public keys, one of which has to have signed what is executed; empty where nothing has to be signed.
    """

    def __init__(
        self, service: str, store_url: str, cache: Path, pool: str | None = None, trusted: tuple[str, ...] = ()
    ) -> None:
        self._service, self._store_url, self._cache, self._pool = service, store_url, cache.absolute(), pool
        self._trusted = trusted
        self._home = Home(self._cache)
        self._reaper = Reaper()
        self._kept: OrderedDict[Affinity, ChildProcess] = OrderedDict()
        self._started = itertools.count()
        self._lock = threading.Lock()
        self._used = time.monotonic()

    @property
    def pid(self) -> int | None:
        """Process id of the child that was used last, where there is one."""
        for child in reversed(self._kept.values()):
            return child.pid if child.alive else None
        return None

    def run(
        self,
        sweep: str,
        job: Job,
        inputs: Mapping[str, JobResult],
        *,
        affinity: str,
        threads: int,
        seconds: float,
        memory_mb: int,
        given_up: Callable[[], bool] = lambda: False,
    ) -> tuple[Reply | Ended | None, bytes]:
        """Run a job in a warm child of the same affinity, else in a fresh one: its end, and the end of its log.

        Raises:
            StoreError: if this machine could not start the child, or not watch it.
        """
        with self._lock:
            key = (affinity, threads)
            workdir: str | None = None
            keep = False
            try:
                child = self._take(key)
                workdir = self._home.begin(sweep, job.index, child.log)
                request = Request(
                    sweep=sweep,
                    job=job,
                    inputs=dict(inputs),
                    workdir=workdir,
                    pool=self._pool,
                    trusted=self._trusted,
                )
                end = child.run(request, seconds, memory_mb, given_up)
                log = child.log_tail()
                if isinstance(end, Ended) and end.repeatable:
                    end = self._unless_full(end, log, Path(workdir))
                keep = bool(affinity) and isinstance(end, Reply) and end.trouble is None and end.repeatable
                return end, log
            except OSError as error:
                told = f"This worker could not run a job in {self._home.path}: {error}. Free what is short."
                raise StoreError(trouble_of(error) or told) from error
            finally:
                if not keep:  # above all a child left in the middle of a job, which would answer the next one with it
                    self._drop(key)
                self._home.end(workdir)
                self._used = time.monotonic()

    def _unless_full(self, end: Ended, log: bytes, workdir: Path) -> Ended | Reply:
        """The end of a child that died, unless a full disk is what it died of: native code crashes on one."""
        told = full_disk((workdir, self._cache))
        if told is None and says_full(log.decode(errors="replace")):
            told = f"The disk of this worker was full: {end.message}. Free some space and run it again."
        return end if told is None else Reply(outcome=Outcome.CRASHED, trouble=told)

    def rest(self, idle_s: float) -> None:
        """Let the children go once there has been nothing to do for so long, with the memory they hold."""
        if self._kept and self._lock.acquire(blocking=False):
            try:
                if time.monotonic() - self._used > idle_s:
                    self._drop_all()
            finally:
                self._lock.release()

    def close(self) -> None:
        """End everything."""
        with self._lock:
            self._drop_all()
        self._reaper.close()
        self._home.close()

    def __enter__(self) -> Children:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, key: Affinity) -> ChildProcess:
        child = self._kept.get(key)
        if child is None or not child.alive or not key[0]:
            self._drop(key)
            while len(self._kept) >= _WARM:
                self._drop(next(iter(self._kept)))
            log = self._home.path / f"child-{next(self._started)}.log"
            child = ChildProcess(self._service, self._store_url, self._cache, key[1], log, self._reaper)
            self._kept[key] = child
        self._kept.move_to_end(key)
        return child

    def _drop(self, key: Affinity) -> None:
        child = self._kept.pop(key, None)
        if child is not None:
            child.discard()

    def _drop_all(self) -> None:
        for key in list(self._kept):
            self._drop(key)
