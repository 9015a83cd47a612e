"""Keeps processes running: starts them, starts them again when they die, and ends them with everything they started."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from deltann.errors import StackError
from deltann.worker.reaper import Reaper, kill_group

_LOOK_S = 0.2
_SOON_S = 20.0
_TRIES = 4
_SHOWN = 1500


@dataclass
class Program:
    """What is to be kept running, and where its output goes."""

    name: str
    command: Sequence[str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    starts: list[float] = field(default_factory=list)

    @property
    def pid(self) -> int | None:
        """Process id, which is its group's too, where it runs."""
        return self.process.pid if self.process is not None and self.process.poll() is None else None


class Supervisor:
    """Runs programs, each in a session of its own so that Ctrl-C reaches only this process.

    A reaper ends them should this process be killed.
    """

    def __init__(self) -> None:
        self.programs: list[Program] = []
        self.failure: StackError | None = None
        self._reaper = Reaper()
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._watch, name="supervisor", daemon=True)
        self._thread.start()

    def start(self, program: Program) -> None:
        """Start a program, and keep it running from now on."""
        with self._lock:
            self._launch(program)
            self.programs.append(program)

    def close(self) -> None:
        """End all programs and everything that they started. Nothing is lost by that."""
        self._stop.set()
        self._thread.join(timeout=10)
        with self._lock:
            family = [member for program in reversed(self.programs) for member in _family(program)]
            for member in family:
                with suppress(psutil.Error):
                    member.kill()
            for program in self.programs:
                if program.process is not None:
                    program.process.wait()
        deadline = time.monotonic() + 5
        while any(_runs(member) for member in family) and time.monotonic() < deadline:
            time.sleep(0.01)
        self._reaper.close()

    def _watch(self) -> None:
        while not self._stop.wait(_LOOK_S):
            with self._lock:
                for program in self.programs:
                    if program.process is None or program.process.poll() is None or self.failure is not None:
                        continue
                    kill_group(program.process.pid)
                    self._reaper.remove(program.process.pid)
                    recent = [start for start in program.starts if time.monotonic() - start < _SOON_S]
                    if len(recent) >= _TRIES:
                        self.failure = StackError(
                            f"{program.name} of the embedded stack died {len(recent)} times within {_SOON_S:g} s, last "
                            f"with exit code {program.process.returncode}. The end of its log, {program.log}: "
                            f"{_tail(program.log)}"
                        )
                    else:
                        self._launch(program)

    def _launch(self, program: Program) -> None:
        program.log.parent.mkdir(parents=True, exist_ok=True)
        try:
            with program.log.open("ab") as out:
                program.process = subprocess.Popen(
                    program.command,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    env=os.environ | {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")},
                )
        except OSError as error:
            raise StackError(f"{program.name} of the embedded stack could not be started: {error}.") from error
        program.starts.append(time.monotonic())
        self._reaper.add(program.process.pid)


def _family(program: Program) -> list[psutil.Process]:
    """A program's process and all its descendants."""
    if program.process is None:
        return []
    with suppress(psutil.Error):
        top = psutil.Process(program.process.pid)
        return [top, *top.children(recursive=True)]
    return []


def _runs(process: psutil.Process) -> bool:
    """Whether it still does something: what waits to be buried by its parent does not."""
    with suppress(psutil.Error):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False


def _tail(log: Path) -> str:
    try:
        return log.read_text(errors="replace")[-_SHOWN:].strip()
    except OSError:
        return "(no log)"
