"""Redis takes no command from whoever has no password, and the embedded one has no port at all."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from deltann.embedded.redis import redis_binary
from deltann.errors import QueueError
from deltann.queue import connect
from deltann.queue.connection import explained

PASSWORD = "s3cret-of-the-lab"


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[int]:
    """A Redis that is started as docker-compose.yml and the manifests start it; its port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    command = [redis_binary(), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(tmp_path)]
    command += ["--appendonly", "yes", "--save", "", "--requirepass", PASSWORD]
    with (tmp_path / "redis.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=0.2).close()
                break
            except OSError:
                server.poll()
        yield port
    finally:
        server.kill()
        server.wait()


@pytest.mark.parametrize("who", ["", ":wrong@", "default:wrong@", f"other:{PASSWORD}@"])
def test_redis_obeys_nobody_without_the_password(guarded: int, who: str) -> None:
    url = f"redis://{who}127.0.0.1:{guarded}/0"
    with pytest.raises(QueueError, match=r"failed or is not there") as caught, explained(url):
        connect(url).set("deltann:x", "1")
    assert PASSWORD not in str(caught.value)
    assert "wrong@" not in str(caught.value)
    with explained(good := f"redis://:{PASSWORD}@127.0.0.1:{guarded}/0"):
        assert connect(good).get("deltann:x") is None


def test_a_worker_without_the_password_says_so_and_ends(guarded: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "deltann.worker", "analyzer", "--store", str(tmp_path / "store")]
    command += ["--redis", f"redis://:not-{PASSWORD}@127.0.0.1:{guarded}/0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 3
    assert "The queue's Redis at redis://" in done.stderr
    assert PASSWORD not in done.stderr + done.stdout


def test_the_embedded_redis_has_no_port_and_a_socket_for_this_user_alone(redis_url: str) -> None:
    path = Path(redis_url.removeprefix("unix://"))
    mode = path.stat()
    assert stat.S_ISSOCK(mode.st_mode)
    assert stat.S_IMODE(mode.st_mode) == 0o700
    assert mode.st_uid == os.getuid()
    assert stat.S_IMODE(path.parent.stat().st_mode) & 0o077 == 0
    client: redis.Redis = connect(redis_url)
    assert client.config_get("port") == {"port": "0"}
