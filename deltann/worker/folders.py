"""The folder that a worker's jobs work in, and what is left of those whose workers were killed."""

from __future__ import annotations

import fcntl
import itertools
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil

from deltann.store import ArtifactStore
from deltann.store.layout import lost_key

KEPT_LOG = 256 * 1024
"""Bytes of a job's log that are kept, from its end."""

_LOCK = "lock"
_JOB = "job"


class Home:
    """A worker's folder, in ``work/`` of its cache, locked for as long as the worker lives."""

    def __init__(self, cache: Path) -> None:
        work = work_folder(cache)
        work.mkdir(parents=True, exist_ok=True)
        self.path = Path(tempfile.mkdtemp(dir=work, prefix=f"{os.getpid()}-"))
        fresh = self.path / "fresh-lock"
        self._handle = os.open(fresh, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        fresh.rename(self.path / _LOCK)
        self._job = os.open(self.path / _JOB, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._number = itertools.count()

    def begin(self, graph: str, index: int, log: Path) -> str:
        """A job is in hand, and writes to that log: whoever finds this folder without us knows whose log it is.

        Returns:
            The path of a new folder for it to work in.
        """
        os.pwrite(self._job, f"{graph}\n{index}\n{log.name}".encode(), 0)
        workdir = f"{self.path}/job-{next(self._number)}"
        os.mkdir(workdir, 0o700)  # noqa: PTH102 - a path object for every small job would cost more than the folder
        return workdir

    def end(self, workdir: str | None) -> None:
        """No job is in hand any more; the folder that it worked in goes."""
        os.ftruncate(self._job, 0)
        if workdir is not None:
            try:
                os.rmdir(workdir)  # noqa: PTH106 - most leave nothing
            except OSError:
                shutil.rmtree(workdir, ignore_errors=True)

    def close(self) -> None:
        """Remove it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._job)
        os.close(self._handle)


def work_folder(cache: Path) -> Path:
    """Where jobs work, a folder per worker."""
    return cache / "work"


def clear_work(cache: Path, store: ArtifactStore | None = None) -> None:
    """Remove what killed workers of this host have left; the logs of the jobs they died over go to the store, if given.

    Raises:
        StoreError: if the store is not there.
    """
    for folder in work_folder(cache).glob("*-*"):
        if _abandoned(folder):
            if store is not None:
                _keep_log(folder, store)
            shutil.rmtree(folder, ignore_errors=True)


def tail(log: Path) -> bytes:
    """The end of a log."""
    if log.stat().st_size == 0:
        return b""
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - KEPT_LOG))
        return file.read()


def _keep_log(folder: Path, store: ArtifactStore) -> None:
    with suppress(OSError, ValueError):
        graph, index, log = (folder / _JOB).read_text().split("\n")
        store.put(lost_key(graph, int(index)), tail(folder / log))


def _abandoned(folder: Path) -> bool:
    """Whether the worker of a folder is gone. Its lock tells; its process id may be that of another."""
    try:
        handle = os.open(folder / _LOCK, os.O_RDWR)
    except OSError:  # not locked yet, or for ever
        pid = folder.name.partition("-")[0]
        return pid.isdigit() and not psutil.pid_exists(int(pid))
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
