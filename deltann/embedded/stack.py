"""Brings the embedded stack up and takes it down again, whatever happens to the process that wanted it."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self

from deltann import tracing
from deltann.dispatcher.dispatcher import Dispatcher
from deltann.embedded.redis import redis_binary, redis_command, socket_folder, wait_for
from deltann.embedded.running import INFO, LOCK, StackInfo
from deltann.embedded.supervise import Program, Supervisor
from deltann.embedded.workers import WorkerSpec, default_workers
from deltann.errors import NotFoundError, StackError
from deltann.queue import connect, names
from deltann.signing import make_keys
from deltann.store import ArtifactStore, open_store
from deltann.store.layout import active_key
from deltann.sweep.backend import LocalBackend
from deltann.sweep.model import SweepStatus
from deltann.sweep.observe import read_status
from deltann.sweep.planner import Planner
from deltann.worker.folders import clear_work


class _Backend(LocalBackend):
    """A backend that says at once when its stack has broken down."""

    def __init__(self, stack: EmbeddedStack, store: ArtifactStore, redis_url: str, planner: Planner | None) -> None:
        super().__init__(store, redis_url, planner)
        self._stack = stack

    def status(self, sid: str) -> SweepStatus:
        self._stack.check()
        return super().status(sid)


class EmbeddedStack:
    """A context manager: within it, Redis, workers and dispatcher run, and ``backend`` takes sweeps.

    On leaving, on Ctrl-C, on SIGTERM and when this process is killed, everything goes down with it; nothing computed
    is lost, because all state is in the store.

    Args:
        home: folder of store, cache, logs and Redis' file; one stack at a time uses it.
        workers: which to start; :func:`default_workers` of ``pools`` where not given.
        pools: device pools to start an executor for.
        store_url: of the store; ``home/store`` where not given.
        planner: makes plans of studies.
        resumes: goes on with the sweeps that an earlier stack has left unfinished; else they wait until they are
            submitted again.

    Raises:
        StackError: if it cannot be started.
        StoreError: if the store is not there.
    """

    def __init__(
        self,
        home: Path,
        workers: Sequence[WorkerSpec] | None = None,
        pools: Sequence[str] = ("cpu",),
        *,
        store_url: str | None = None,
        planner: Planner | None = None,
        resumes: bool = True,
    ) -> None:
        self.home = home.absolute()
        self._workers = tuple(workers) if workers is not None else default_workers(pools)
        self._store_url = store_url or str(self.home / "store")
        self._planner = planner
        self._resumes = resumes
        self._exit = ExitStack()
        self._supervisor: Supervisor | None = None
        self.backend: LocalBackend
        self.store: ArtifactStore
        self.redis_url = ""
        self.cache = self.home / "cache"

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._exit.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exit.close()

    @property
    def programs(self) -> list[Program]:
        """Redis first, then the workers."""
        return self._supervisor.programs if self._supervisor is not None else []

    def check(self) -> None:
        """Raise what broke the stack, if something did.

        Raises:
            StackError: if a process of it dies again and again.
        """
        if self._supervisor is not None and self._supervisor.failure is not None:
            raise self._supervisor.failure

    def wait_ready(self, seconds: float = 30.0) -> None:
        """Return once every worker has registered. Jobs may be submitted before.

        Raises:
            StackError: if some have not after so many seconds.
        """
        client = connect(self.redis_url)
        deadline = time.monotonic() + seconds
        wanted = sum(worker.count for worker in self._workers)
        while True:
            self.check()
            ready = sum(1 for _ in client.scan_iter(f"{names.WORKERS}*"))
            if ready >= wanted:
                return
            if time.monotonic() > deadline:
                raise StackError(
                    f"Of {wanted} workers {ready} were ready after {seconds:g} s; see the logs in {self.home / 'logs'}."
                )
            time.sleep(0.05)

    def _start(self) -> None:
        tracing.setup("stack")
        self._lock_home()
        clear_work(self.cache)
        self.store = open_store(self._store_url)
        sockets = socket_folder()
        self._exit.callback(shutil.rmtree, sockets, ignore_errors=True)
        data = self.home / "redis"
        shutil.rmtree(data, ignore_errors=True)  # all state is in the store; old messages would only be in the way
        data.mkdir(parents=True)
        socket = sockets / "r.sock"
        self.redis_url = f"unix://{socket}"
        self._handle_sigterm()
        self._keys = make_keys(self.home / "keys")
        supervisor = self._supervisor = Supervisor()
        self._exit.callback(supervisor.close)
        logs = self.home / "logs"
        supervisor.start(Program("Redis", redis_command(redis_binary(), socket, data), logs / "redis.log"))
        wait_for(self.redis_url, 10)
        for worker in self._workers:
            for number in range(worker.count):
                name = f"{worker.pool or worker.service.replace(':', '.')}-{number}"
                supervisor.start(Program(f"Worker {name}", self._command(worker), logs / f"{name}.log"))
        self.backend = _Backend(self, self.store, self.redis_url, self._planner)
        self._dispatch()
        self._announce()

    def _command(self, worker: WorkerSpec) -> list[str]:
        options = {
            "--redis": self.redis_url,
            "--store": self.store.url,
            "--cache": str(self.cache),
            "--threads": str(worker.threads),
            "--pool": worker.pool,
            "--device": worker.device,
            "--module-keys": str(self._keys[1]),
            "--signing-key": str(self._keys[0]) if worker.service == "compiler" else None,
        }
        given = [part for name, value in options.items() if value for part in (name, value)]
        return [sys.executable, "-m", "deltann.worker", worker.service, *given]

    def _dispatch(self) -> None:
        stop = threading.Event()
        left = [] if self._resumes else self._left_unfinished()
        dispatcher = Dispatcher(self.store, self.redis_url, self._planner, left=left)
        thread = threading.Thread(target=dispatcher.run, args=(stop,), name="dispatcher", daemon=True)
        thread.start()

        def end() -> None:
            stop.set()
            thread.join(timeout=5)

        self._exit.callback(end)

    def _left_unfinished(self) -> list[str]:
        client = connect(self.redis_url)
        left = []
        for key in self.store.list(active_key("")):
            try:
                status = read_status(self.store, key.removeprefix(active_key("")))
            except (NotFoundError, ValueError):
                continue  # the dispatcher tells what is wrong with it
            client.set(names.status(status.id), status.model_dump_json())
            left.append(status.id)
        return left

    def _lock_home(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.home / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._exit.callback(os.close, handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StackError(
                f"Another embedded stack works in {self.home}. Wait until it has ended, stop it with "
                "`deltann stack down`, or name another folder with --home."
            ) from None

    def _handle_sigterm(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return

        def leave(number: int, frame: FrameType | None) -> None:
            raise SystemExit(128 + number)

        before = signal.signal(signal.SIGTERM, leave)
        self._exit.callback(signal.signal, signal.SIGTERM, before)

    def _announce(self) -> None:
        info = StackInfo(pid=os.getpid(), redis_url=self.redis_url, store_url=self.store.url, started=time.time())
        place = self.home / INFO
        place.write_text(info.model_dump_json())
        self._exit.callback(place.unlink, missing_ok=True)
