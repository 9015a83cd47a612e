"""The gateway as a process, and the stack that runs one: how they begin, answer and end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import psutil
import pytest
from deltann_gateway.main import check
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from deltann.client import GatewayClient

from .conftest import Running

BIN = Path(sys.executable).parent


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def gateway(*arguments: object) -> subprocess.Popen[str]:
    command = [BIN / "deltann-gateway", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, stderr = process.communicate(timeout=30)
    return process.returncode, stderr


def serving(address: str, process: subprocess.Popen[str]) -> None:
    """Wait until a gateway answers."""
    deadline = time.monotonic() + 30
    while True:
        try:
            check(address)
            return
        except Exception:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


@pytest.fixture
def served(running: Running) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    address = f"127.0.0.1:{free_port()}"
    process = gateway(
        *("--listen", address, "--redis", running.stack.redis_url, "--store", running.stack.store.url),
        *("--no-dispatcher",),
    )
    serving(address, process)
    yield address, process
    if process.poll() is None:
        process.kill()
        process.communicate()


def test_it_serves_says_so_and_ends_on_sigterm(served: tuple[str, subprocess.Popen[str]]) -> None:
    address, process = served
    assert subprocess.run([BIN / "deltann-gateway", "--check", address], check=False).returncode == 0
    with GatewayClient(address) as client:
        assert isinstance(client.list_sweeps(), list)
    process.send_signal(signal.SIGTERM)
    code, log = ended(process)
    assert code == 0
    assert f"serving on {address}" in log
    assert "Traceback" not in log


def test_it_describes_itself_by_reflection(running: Running) -> None:
    with grpc.insecure_channel(running.address) as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        (answer,) = stub.ServerReflectionInfo(iter([request]))
    names = {service.name for service in answer.list_services_response.service}
    assert {"deltann.v1.SweepService", "deltann.v1.ConversionService", "deltann.v1.ArtifactService"} <= names
    assert "grpc.health.v1.Health" in names


def test_a_second_gateway_on_the_same_address_is_refused(running: Running) -> None:
    process = gateway(
        *("--listen", running.address, "--redis", running.stack.redis_url, "--store", running.stack.store.url),
        "--no-dispatcher",
    )
    code, log = ended(process)
    assert code == 3
    assert f"cannot listen on {running.address}" in log
    assert "Traceback" not in log


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (("--store", "STORE", "--redis", "redis://:secret@127.0.0.1:1/0"), 3, "127.0.0.1:1"),
        (("--redis", "redis://127.0.0.1:1/0"), 2, "--store"),
        (("--store", "ftp://x/y", "--redis", "redis://127.0.0.1:1/0"), 3, "ftp://x/y"),
        (("--check", "127.0.0.1:1"), 3, "No gateway answers"),
    ],
    ids=["no Redis", "no store named", "no such store", "nothing to check"],
)
def test_what_it_needs_and_does_not_find_is_one_paragraph(
    tmp_path: Path, arguments: tuple[str, ...], code: int, word: str
) -> None:
    found, log = ended(gateway(*(str(tmp_path) if part == "STORE" else part for part in arguments)))
    assert found == code
    assert word in log
    assert log.startswith("Error: ")
    assert log.count("\n") == 1
    assert "secret" not in log


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0"])
def test_a_public_address_without_tokens_and_tls_is_refused(tmp_path: Path, listen: str) -> None:
    code, log = ended(gateway("--listen", listen, "--store", tmp_path, "--redis", "redis://127.0.0.1:1/0"))
    assert code == 2
    assert "--tokens and --tls-cert are not given" in log
    assert log.count("\n") == 1


def test_a_token_opens_the_gateway_to_the_command_line_and_is_in_no_log(running: Running, tmp_path: Path) -> None:
    tokens, address = tmp_path / "tokens.yml", f"127.0.0.1:{free_port()}"
    command = [BIN / "deltann-gateway", "token", "--name", "me", "--role", "read", "--file", tokens]
    token = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert tokens.stat().st_mode & 0o777 == 0o600
    process = gateway(
        *("--listen", address, "--redis", running.stack.redis_url, "--store", running.stack.store.url),
        *("--no-dispatcher", "--tokens", tokens, "--uploads", tmp_path / "uploads"),
    )
    serving(address, process)

    def listed(**environment: str) -> subprocess.CompletedProcess[str]:
        command = [BIN / "deltann", "sweep", "list", "--json", "--gateway", address]
        known = {name: value for name, value in os.environ.items() if not name.startswith("DELTANN_TOKEN")}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=known | environment)

    (tmp_path / "token").write_text(f"{token}\n")
    answers = (listed(DELTANN_TOKEN_FILE=str(tmp_path / "token")), listed(DELTANN_TOKEN="wrong-token"))
    assert [answer.returncode for answer in answers] == [0, 2]
    process.send_signal(signal.SIGTERM)
    code, log = ended(process)
    assert code == 0
    everything = log + "".join(answer.stdout + answer.stderr for answer in answers)
    assert token not in everything
    assert "wrong-token" not in everything


def test_the_stack_comes_up_detached_serves_and_goes_down_whole(tmp_path: Path) -> None:
    listen = f"127.0.0.1:{free_port()}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DELTANN_GATEWAY")}

    def deltann(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [BIN / "deltann", *arguments, "--home", str(tmp_path)]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=90)

    up = deltann("stack", "up", "--detach", "--listen", listen)
    assert up.returncode == 0, up.stderr
    try:
        state = json.loads(deltann("stack", "status", "--json").stdout)
        assert (state["running"], state["gateway"]) == (True, listen)
        family = psutil.Process(state["pid"]).children(recursive=True)
        assert deltann("sweep", "list", "--gateway", listen).returncode == 0
        again = deltann("stack", "up", "--detach", "--listen", listen)
        assert (again.returncode, "already" in again.stderr) == (3, True)
    finally:
        down = deltann("stack", "down")
    assert down.returncode == 0
    _, alive = psutil.wait_procs(family, timeout=10)
    assert alive == []
    assert deltann("stack", "status").returncode == 3
