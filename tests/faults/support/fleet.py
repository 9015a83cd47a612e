"""A fleet of real processes that a test hurts: Redis, dispatcher, gateway and workers over a store."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import deltann_faulty as faulty
import redis
from planner import FilePlanner, study
from stacks import SUPPORT

from deltann.embedded.redis import redis_binary, redis_command, socket_folder, wait_for
from deltann.queue import connect
from deltann.store import open_store
from deltann.sweep import LocalBackend

HERE = Path(__file__).parent
_MARK = "DELTANN_FLEET"
Process = subprocess.Popen[bytes]


def until(true: Callable[[], object], seconds: float, what: str = "it") -> float:
    """Wait for something to become true; the seconds that it took."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < seconds, f"{what} not within {seconds:g} s"
        time.sleep(0.02)
    return time.monotonic() - began


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Fleet:
    """Starts, kills and starts again what it is told, and at its end sees that nothing is left.

    Args:
        folder: for all that it writes.
        store_url: of the store; a folder of its own where not given.
        tcp: address that Redis listens on; a Unix socket where not given.
    """

    def __init__(self, folder: Path, store_url: str = "", tcp: tuple[str, int] | None = None) -> None:
        self.folder, self.mark = folder, uuid.uuid4().hex
        self.plans, self.trace, self.cache = folder / "plans", folder / "trace", folder / "cache"
        for made in (self.plans, folder / "run", folder / "redis"):
            made.mkdir(parents=True)
        os.environ["DELTANN_RUNTIME_DIR"] = str(folder / "run")
        self.store_url = store_url or str(folder / "store")
        self._tcp, self._socket = tcp, socket_folder() / "r.sock"
        self.redis_url = f"redis://{tcp[0]}:{tcp[1]}/0" if tcp else f"unix://{self._socket}"
        self.processes: dict[str, Process] = {}
        self._commands: dict[str, tuple[list[str], dict[str, str]]] = {}
        self._backend: LocalBackend | None = None

    # What there is.

    def redis(self, *, appendonly: bool = True) -> None:
        """Start Redis; without its file it begins empty, as one whose disk is lost."""
        data = self.folder / "redis"
        if not appendonly:
            shutil.rmtree(data)
            data.mkdir()
        command = redis_command(redis_binary(), self._socket, data)
        if self._tcp:
            command += ["--bind", self._tcp[0], "--port", str(self._tcp[1]), "--protected-mode", "no"]
        self._socket.unlink(missing_ok=True)
        self._start("redis", command, {})
        wait_for(self.redis_url, 10)

    def dispatcher(self, name: str = "dispatcher") -> None:
        self._role(name, "dispatcher", [self.redis_url, self.store_url])

    def gateway(self) -> str:
        """Start a gateway, with a dispatcher in it, and return its address once it listens."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        address = f"127.0.0.1:{port}"
        options = ["--listen", address, "--redis", self.redis_url, "--store", self.store_url]
        self._role("gateway", "gateway", [*options, "--uploads", str(self.folder / "uploads")])
        until(lambda: _listens(port), 30, "the gateway")
        return address

    def worker(
        self, name: str, *, service: str = faulty.NAME, within: Sequence[str] = (), **environment: str
    ) -> Process:
        """Start a worker, by the command ``within`` where it is given, with more variables."""
        options = [service, "--redis", self.redis_url, "--store", self.store_url, "--cache", str(self.cache)]
        return self._role(name, "worker", options, within, **environment)

    def again(self, name: str) -> Process:
        """Start once more what has died."""
        command, environment = self._commands[name]
        return self._start(name, command, environment)

    def kill(self, name: str, how: int = signal.SIGKILL) -> None:
        """Send a signal; what cannot survive it is waited for."""
        process = self.processes[name]
        process.send_signal(how)
        if how in (signal.SIGKILL, signal.SIGTERM):
            process.wait(timeout=60)

    @property
    def client(self) -> redis.Redis:
        return connect(self.redis_url)

    @property
    def backend(self) -> LocalBackend:
        self._backend = self._backend or LocalBackend(
            open_store(self.store_url), self.redis_url, FilePlanner(self.plans)
        )
        return self._backend

    def plan(self, name: str, jobs: Sequence[Any]) -> None:
        """Lay down the jobs of a study of that name."""
        (self.plans / f"{name}.json").write_text(json.dumps(jobs))

    def submit(self, name: str, jobs: Sequence[Any]) -> str:
        self.plan(name, jobs)
        return self.backend.submit(study(name))

    # What runs.

    def running(self, name: str = "") -> list[int]:
        """The processes of this fleet, or of one of its members, descendants that have left their parents included."""
        wanted = f"{_MARK}={self.mark}" + (f"/{name}\0" if name else "/")
        found = []
        for environ in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if wanted in environ.read_text(errors="replace"):
                    found.append(int(environ.parent.name))
        return found

    def close(self) -> list[int]:
        """End everything in order; the processes that were left after that, which are killed now."""
        gateways = ("gateway", "dispatcher", "second")
        workers = [name for name in self.processes if name not in (*gateways, "redis")]
        for group in (workers, gateways, ["redis"]):
            members = [self.processes[name] for name in group if name in self.processes]
            for process in members:
                if process.poll() is None:
                    process.send_signal(signal.SIGCONT)
                process.terminate()
            for process in members:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=20)
        deadline = time.monotonic() + 5
        while (left := self.running()) and time.monotonic() < deadline:
            time.sleep(0.05)
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self._socket.parent, ignore_errors=True)
        return left

    def _role(
        self, name: str, role: str, arguments: Sequence[str], within: Sequence[str] = (), **environment: str
    ) -> Process:
        command = [*within, sys.executable, str(HERE / "role.py"), role, *arguments]
        return self._start(name, command, environment)

    def _start(self, name: str, command: list[str], environment: dict[str, str]) -> Process:
        self._commands[name] = (command, environment)
        own = {
            _MARK: f"{self.mark}/{name}",
            "PYTHONPATH": os.pathsep.join([environment.get("PYTHONPATH", ""), str(HERE), SUPPORT]).lstrip(os.pathsep),
            "DELTANN_PLANS": str(self.plans),
            "OMP_NUM_THREADS": "1",
        }
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                env=os.environ | environment | own,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes[name] = process
        return process
