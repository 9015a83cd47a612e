"""Keeps at most one child process, warm for as long as jobs of the same affinity follow each other."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

from deltann.job import Job, JobResult
from deltann.worker.process import ChildProcess, Ended
from deltann.worker.reaper import Reaper
from deltann.worker.wire import Reply, Request


def work_folder(cache: Path) -> Path:
    """Where jobs work, a folder per worker whose name begins with its process id."""
    return cache / "work"


def clear_work(cache: Path) -> None:
    """Remove what killed workers of this host have left."""
    for folder in work_folder(cache).glob("*-*"):
        pid = folder.name.partition("-")[0]
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


class Children:
    """The child processes of one worker, one at a time. Use it as a context manager.

    Args:
        service: name or ``module:ATTRIBUTE``.
        store_url: of the store.
        cache: folder for verified copies; work folders are made beside them.
        pool: device pool of this worker.
    """

    def __init__(self, service: str, store_url: str, cache: Path, pool: str | None = None) -> None:
        self._service, self._store_url, self._cache, self._pool = service, store_url, cache.absolute(), pool
        work = work_folder(self._cache)
        work.mkdir(parents=True, exist_ok=True)
        self._home = Path(tempfile.mkdtemp(dir=work, prefix=f"{os.getpid()}-"))
        self._log = self._home / "child.log"
        self._reaper = Reaper()
        self._child: ChildProcess | None = None
        self._affinity: tuple[str, int] | None = None
        self._lock = threading.Lock()
        self._used = time.monotonic()

    @property
    def pid(self) -> int | None:
        """Process id of the child, where there is one."""
        child = self._child
        return child.pid if child is not None and child.alive else None

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
        """Run a job in a warm child of the same affinity, else in a fresh one: its end, and the end of its log."""
        with self._lock:
            child = self._take(affinity, threads)
            workdir = Path(tempfile.mkdtemp(dir=self._home, prefix="job-"))
            try:
                request = Request(sweep=sweep, job=job, inputs=dict(inputs), workdir=str(workdir), pool=self._pool)
                end = child.run(request, seconds, memory_mb, given_up)
                log = child.log_tail()
            finally:
                shutil.rmtree(workdir, ignore_errors=True)
                self._used = time.monotonic()
            if not isinstance(end, Reply) or not affinity:
                self._drop()
            return end, log

    def rest(self, idle_s: float) -> None:
        """Let a child go that has had nothing to do for so long, with the memory it holds."""
        if self._child is not None and self._lock.acquire(blocking=False):
            try:
                if time.monotonic() - self._used > idle_s:
                    self._drop()
            finally:
                self._lock.release()

    def close(self) -> None:
        """End everything."""
        with self._lock:
            self._drop()
        self._reaper.close()
        shutil.rmtree(self._home, ignore_errors=True)

    def __enter__(self) -> Children:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, affinity: str, threads: int) -> ChildProcess:
        wanted = (affinity, threads)
        if self._child is None or not affinity or wanted != self._affinity or not self._child.alive:
            self._drop()
            self._child = ChildProcess(self._service, self._store_url, self._cache, threads, self._log, self._reaper)
            self._affinity = wanted
        return self._child

    def _drop(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None
