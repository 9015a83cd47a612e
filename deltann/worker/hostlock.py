"""The lock of a host: timings hold it alone, all other jobs share it. It lives as long as the process that has it."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_POLL_S = 0.02


def runtime_dir() -> Path:
    """Folder of this user for locks and sockets: ``DELTANN_RUNTIME_DIR``, else one under the system's own."""
    named = os.environ.get("DELTANN_RUNTIME_DIR")
    if named:
        folder = Path(named)
    elif os.environ.get("XDG_RUNTIME_DIR"):
        folder = Path(os.environ["XDG_RUNTIME_DIR"], "deltann")
    else:
        folder = Path(tempfile.gettempdir(), f"deltann-{os.getuid()}")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


class HostLock:
    """A fair readers-writer lock over two files: whoever wants the host alone closes the turnstile and waits.

    Without the turnstile a stream of shared jobs would keep a timing out for ever. Waiting polls, so that it can be
    given up.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or runtime_dir()

    @contextmanager
    def hold(self, *, exclusive: bool, given_up: Callable[[], bool] = lambda: False) -> Iterator[bool]:
        """Hold the host, alone or shared. Gives False, without the lock, where ``given_up()`` became true meanwhile."""
        with self._open("turnstile") as turnstile, self._open("host") as host:
            entered = self._lock(turnstile, fcntl.LOCK_EX, given_up) and self._lock(
                host, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH, given_up
            )
            if not exclusive:
                fcntl.flock(turnstile, fcntl.LOCK_UN)
            yield entered

    @contextmanager
    def _open(self, name: str) -> Iterator[int]:
        handle = os.open(f"{self._folder}/{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            yield handle
        finally:
            os.close(handle)

    @staticmethod
    def _lock(handle: int, how: int, given_up: Callable[[], bool]) -> bool:
        while True:
            try:
                fcntl.flock(handle, how | fcntl.LOCK_NB)
            except BlockingIOError:
                if given_up():
                    return False
                time.sleep(_POLL_S)
            else:
                return True
