"""One child process and the limits it lives under."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from deltann.outcome import Outcome
from deltann.worker.folders import tail
from deltann.worker.reaper import Reaper, kill_group
from deltann.worker.wire import Reply, Request

_LOOK_S = 0.25
_MAX_LOG = 16 * 1024 * 1024


@dataclass(frozen=True)
class Ended:
    """A child that gave no reply: killed by us for a limit, or dead of its own."""

    outcome: Outcome
    type: str
    message: str
    repeatable: bool


def child_environment(threads: int, temporary: Path) -> dict[str, str]:
    """Environment of a child. Thread counts and kernel libraries have to stand before any framework is imported.

    Args:
        threads: for the numeric libraries.
        temporary: folder for temporary files, which goes with the child, however that ends.
    """
    count = str(threads)
    return os.environ | {
        "OMP_NUM_THREADS": count,
        "OPENBLAS_NUM_THREADS": count,
        "MKL_NUM_THREADS": count,
        "NUMEXPR_NUM_THREADS": count,
        "TVM_NUM_THREADS": count,
        "TF_NUM_INTRAOP_THREADS": count,
        "TF_NUM_INTEROP_THREADS": "1",
        "OMP_WAIT_POLICY": "PASSIVE",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        # Left to itself TensorFlow decides by the processor: without AVX-512 it has no NCHW convolutions.
        "TF_ENABLE_ONEDNN_OPTS": "1",
        "TMPDIR": str(temporary),
        "PYTHONFAULTHANDLER": "1",
        "PYTHONUNBUFFERED": "1",
        "MALLOC_ARENA_MAX": "2",
    }


class ChildProcess:
    """A child that runs jobs of one service, in a process group of its own.

    Args:
        service: name or ``module:ATTRIBUTE``.
        store_url: of the store that handlers use.
        cache: folder for verified local copies.
        threads: for the numeric libraries.
        log: file that standard output and error go to.
        reaper: kills the group if this process dies.
    """

    def __init__(self, service: str, store_url: str, cache: Path, threads: int, log: Path, reaper: Reaper) -> None:
        self.log, self._reaper = log, reaper
        self._temporary = log.with_suffix("")
        self._temporary.mkdir()
        self._replies, reply_end = os.pipe()
        command = [sys.executable, "-m", "deltann.worker.child", service, store_url, str(cache), str(reply_end)]
        try:
            with log.open("ab") as out:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    pass_fds=[reply_end],
                    start_new_session=True,
                    env=child_environment(threads, self._temporary),
                    bufsize=0,
                )
        except OSError:
            os.close(self._replies)
            raise
        finally:
            os.close(reply_end)
        reaper.add(self._process.pid)
        self._buffer = b""

    @property
    def pid(self) -> int:
        """Its process id, which is its process group's too."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can take another job."""
        return self._process.poll() is None

    def run(
        self, request: Request, seconds: float, memory_mb: int, given_up: Callable[[], bool] = lambda: False
    ) -> Reply | Ended | None:
        """Run one job to its end or to its limits. None where ``given_up()`` became true; the child is killed then.

        Args:
            request: the job.
            seconds: time limit.
            memory_mb: limit of the resident memory of the child and all its descendants, MiB.
            given_up: asked a few times a second.
        """
        os.truncate(self.log, 0)
        assert self._process.stdin is not None
        requests = self._process.stdin.fileno()
        unsent = request.model_dump_json().encode() + b"\n"
        deadline = time.monotonic() + seconds
        while True:
            readable, writable, _ = select.select([self._replies], [requests] if unsent else [], [], _LOOK_S)
            if readable:
                piece = os.read(self._replies, 1 << 16)
                if not piece:
                    return self._died()
                self._buffer += piece
                if b"\n" in piece:
                    line, _, self._buffer = self._buffer.partition(b"\n")
                    return Reply.model_validate_json(line)
            if writable:
                try:
                    unsent = unsent[os.write(requests, unsent[: select.PIPE_BUF]) :]
                except BrokenPipeError:
                    return self._died()
            if readable or writable:
                continue
            if time.monotonic() > deadline:
                self.kill()
                return Ended(Outcome.TIMED_OUT, "TimeLimit", f"it ran longer than its limit of {seconds:g} s", False)
            used = self._resident_mb()
            if used > memory_mb:
                self.kill()
                message = f"memory limit: it used {used} MiB of resident memory, its limit is {memory_mb} MiB"
                return Ended(Outcome.CRASHED, "MemoryLimit", message, False)
            if given_up():
                self.kill()
                return None
            if self.log.stat().st_size > _MAX_LOG:
                os.truncate(self.log, 0)

    def log_tail(self) -> bytes:
        """The end of what the job wrote to standard output and error, at most 256 KiB."""
        return tail(self.log)

    def discard(self) -> None:
        """End it, and remove its log and its temporary files."""
        self.kill()
        shutil.rmtree(self._temporary, ignore_errors=True)
        self.log.unlink(missing_ok=True)

    def kill(self) -> None:
        """End it and all its descendants, and wait until it is gone."""
        try:
            family = psutil.Process(self.pid).children(recursive=True)
        except psutil.Error:
            family = []
        kill_group(self.pid)
        for member in family:  # those that left the group
            try:
                member.kill()
            except psutil.Error:
                continue
        self._process.wait()
        self._reaper.remove(self.pid)
        if self._replies >= 0:
            os.close(self._replies)
            self._replies = -1
        if self._process.stdin is not None:
            self._process.stdin.close()

    def _resident_mb(self) -> int:
        total = 0
        try:
            own = psutil.Process(self.pid)
            for process in [own, *own.children(recursive=True)]:
                try:
                    total += process.memory_info().rss
                except psutil.Error:
                    continue
        except psutil.Error:
            return 0
        return total >> 20

    def _died(self) -> Ended:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            code = 0  # it closed its pipe and lives on: of no use any more
        self.kill()
        if code < 0:
            name = signal.Signals(-code).name
            # SIGKILL comes from outside (the kernel short of memory, an operator); the others are its own doing.
            return Ended(Outcome.CRASHED, name, f"the process was ended by {name}", name not in ("SIGKILL", "SIGTERM"))
        return Ended(Outcome.CRASHED, "Exit", f"the process ended by itself with exit code {code}", True)
