"""The stack that runs in a home: what it tells of itself, how others find it and stop it."""

from __future__ import annotations

import fcntl
import os
import signal
from contextlib import suppress
from pathlib import Path

import psutil

from deltann.base import Data
from deltann.errors import StackError

INFO = "stack.json"
LOCK = "stack.lock"


class StackInfo(Data):
    """A stack that runs, for other commands to find."""

    pid: int
    redis_url: str
    store_url: str
    started: float


def running_stack(home: Path) -> StackInfo | None:
    """The stack that runs in a home, or None."""
    try:
        info = StackInfo.model_validate_json((home / INFO).read_text())
    except (OSError, ValueError):
        return None
    with suppress(OSError):
        handle = os.open(home / LOCK, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None  # nobody holds the home: the file is what a killed stack has left
        except BlockingIOError:
            pass
        finally:
            os.close(handle)
    return info


def stop_stack(home: Path, seconds: float = 20.0) -> bool:
    """Stop the stack that runs in a home: False where there was none.

    Raises:
        StackError: if it has not ended after so many seconds.
    """
    info = running_stack(home)
    if info is None:
        return False
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(info.pid)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=seconds)
        except psutil.TimeoutExpired:
            raise StackError(f"The stack of process {info.pid} in {home} has not ended after {seconds:g} s.") from None
    return True
