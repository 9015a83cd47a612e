"""Kills process groups when the process that started it is gone, however it went, kill -9 included.

Run as a script with nothing but the standard library, so that it starts at once and stays small. It reads lines from
its standard input, ``+<pgid>`` and ``-<pgid>``; when the pipe ends, every group still listed is killed. A thread inside
the child could not do this: native code that hangs with the interpreter's lock would stop it, and the kernel's
parent-death signal does not reach grandchildren.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


class Reaper:
    """The parent's side: a list of process groups that must not outlive this process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__], stdin=subprocess.PIPE, start_new_session=True, bufsize=0
        )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def add(self, pgid: int) -> None:
        """This group dies with us."""
        self._tell(f"+{pgid}\n")

    def remove(self, pgid: int) -> None:
        """This group has ended."""
        self._tell(f"-{pgid}\n")

    def close(self) -> None:
        """End it, killing what is still listed."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=10)

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(line.encode())


def kill_group(pgid: int) -> None:
    """Kill a process group, if there is one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pgid, signal.SIGKILL)


def descendants(pid: int) -> list[int]:
    """All processes below one, those in groups and sessions of their own included."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it may have ended meanwhile
            parent = int(stat.read_bytes().rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found[1:]


def main() -> None:
    """Read the groups until the pipe ends, then kill them."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    groups: list[int] = []
    for line in sys.stdin:
        pgid = int(line[1:])
        if line[0] == "+":
            groups.append(pgid)
        elif pgid in groups:
            groups.remove(pgid)
    for pgid in groups:
        family = descendants(pgid)
        kill_group(pgid)
        for pid in family:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
