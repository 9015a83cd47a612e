"""What the tests of workers, dispatcher and embedded stack share. Imported by their conftest files."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import deltann_arithmetic as arithmetic
import pytest

from deltann.embedded.redis import redis_binary, redis_command, socket_folder, wait_for
from deltann.store import LocalStore

SUPPORT = str(Path(__file__).parent)


@pytest.fixture(autouse=True)
def own_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks and sockets of the test's own, and the test's service importable in every process it starts."""
    monkeypatch.setenv("DELTANN_RUNTIME_DIR", str(tmp_path / "run"))
    paths = [SUPPORT, *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    """A real Redis on a socket of its own."""
    socket = socket_folder() / "r.sock"
    (tmp_path / "redis").mkdir()
    with (tmp_path / "redis.log").open("wb") as log:
        server = subprocess.Popen(redis_command(redis_binary(), socket, tmp_path / "redis"), stdout=log, stderr=log)
    url = f"unix://{socket}"
    try:
        wait_for(url, 10)
        yield url
    finally:
        server.kill()
        server.wait()


@pytest.fixture
def start_worker(tmp_path: Path, store: LocalStore, redis_url: str) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Starts workers of the arithmetic service, and ends them."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "deltann.worker", arithmetic.NAME, "--redis", redis_url]
        command += ["--store", store.url, "--cache", str(tmp_path / "cache")]
        with (tmp_path / f"worker-{len(started)}.log").open("wb") as log:
            started.append(subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True))
        return started[-1]

    yield start
    for worker in started:
        worker.kill()
        worker.wait()


def until(true: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"not within {seconds:g} s"
        time.sleep(0.02)


def lines(path: Path) -> list[str]:
    """The lines of a file, or none where it is not there yet."""
    return path.read_text().splitlines() if path.exists() else []
