"""README's tour for operators, word for word: only addresses are this machine's."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import s3

from deltann.embedded.redis import redis_binary, wait_for

from .sweeps import REPOSITORY
from .tiny import write_study

BIN = Path(sys.executable).parent
SERVES = re.compile(r"deltann worker |deltann-gateway --listen ")
"""These stay in the foreground, each in a terminal of its own."""
READY = re.compile(r"serving on|has a worker more")


def tour() -> list[list[str]]:
    """The commands of "On many machines", up to its containers, by block."""
    section = re.search(r"\n## On many machines\n(.*?)\n### ", (REPOSITORY / "README.md").read_text(), re.DOTALL)
    assert section is not None
    blocks = re.findall(r"```\n(.*?)```", section[1], re.DOTALL)
    return [block.replace("\\\n", "").splitlines() for block in blocks]


@dataclass
class Terminal:
    """A shell's folder and variables, and what was left running in other terminals."""

    folder: Path
    variables: dict[str, str]
    servers: ExitStack = field(default_factory=ExitStack)

    def type(self, line: str) -> str:
        """One line, as a person types it: what it prints."""
        if SERVES.match(line):
            self._leave_running(line)
            return ""
        # The variables that a line exports are there for the lines that follow.
        done = subprocess.run(
            ["bash", "-c", f"{line}\nended=$?\nenv -0 > .variables\nexit $ended"],
            cwd=self.folder, env=self.variables, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}{self._logs()}"
        named = (self.folder / ".variables").read_text().split("\0")
        self.variables = dict(variable.split("=", 1) for variable in named if variable)
        return done.stdout

    def _leave_running(self, line: str) -> None:
        path = self.folder / f"{len(list(self.folder.glob('*.log')))}.log"
        with path.open("wb") as log:
            server = subprocess.Popen(
                ["bash", "-c", f"exec {line}"], cwd=self.folder, env=self.variables, stdout=log, stderr=log
            )
        self.servers.callback(server.wait)
        self.servers.callback(server.send_signal, signal.SIGTERM)
        deadline = time.monotonic() + 60
        while not READY.search(path.read_text()):  # a person looks before the next line
            assert server.poll() is None, self._logs()
            assert time.monotonic() < deadline, self._logs()
            time.sleep(0.1)

    def _logs(self) -> str:
        return "".join(f"\n== {log.name}\n{log.read_text()[-1500:]}" for log in sorted(self.folder.glob("*.log")))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    write_study(tmp_path, "my-study.yaml")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=gateway", "-addext",
         "subjectAltName=DNS:localhost", "-keyout", "tls.key", "-out", "tls.crt"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    foreign = {name: value for name, value in os.environ.items() if not name.startswith("DELTANN_")}
    own = {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "DELTANN_HOME": str(tmp_path / "home"),
        "DELTANN_RUNTIME_DIR": str(tmp_path / "run"),
        "DELTANN_S3_ACCESS_KEY": s3.ACCESS_KEY,
        "DELTANN_S3_SECRET_KEY": s3.SECRET_KEY,
    }
    opened = Terminal(tmp_path, {**foreign, **own})
    with opened.servers:
        yield opened
    subprocess.run([BIN / "deltann", "stack", "down"], env=opened.variables, check=False, capture_output=True)


@pytest.fixture
def addresses(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A Redis and an S3 server for the lab's. The gateway's port is the one that is written."""
    with socket.socket() as taken:
        if taken.connect_ex(("127.0.0.1", 50051)) == 0:
            pytest.skip("something listens on 127.0.0.1:50051 already, where the tour has its gateway")
    redis = free_port()
    server = subprocess.Popen(
        [redis_binary(), "--bind", "127.0.0.1", "--port", str(redis), "--dir", str(tmp_path)],
        stdout=subprocess.DEVNULL,
    )
    folder = tmp_path / "s3"
    folder.mkdir()
    try:
        wait_for(f"redis://127.0.0.1:{redis}/0", 10)
        with s3.s3_server(folder) as endpoint:
            yield {
                "lab.example:6379": f"127.0.0.1:{redis}",
                "lab.example:9000": endpoint,
                "0.0.0.0": "127.0.0.1",
                "gateway.example": "localhost",
            }
    finally:
        server.terminate()
        server.wait()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="a certificate is made with openssl")
def test_the_operators_tour_works_as_it_is_written(terminal: Terminal, addresses: dict[str, str]) -> None:
    printed: dict[str, str] = {}
    for block in tour():
        for line in block:
            typed = line
            for written, address in addresses.items():
                typed = typed.replace(written, address)
            if line.startswith("grpcurl ") and shutil.which("grpcurl", path=terminal.variables["PATH"]) is None:
                continue  # PyPI has it for x86-64 alone
            printed[line.partition("  ")[0]] = terminal.type(typed)
    alone, lab = (printed[f"deltann sweep run my-study.yaml --gateway {name}:50051"] for name in
                  ("127.0.0.1", "gateway.example"))  # fmt: skip
    for summary in (alone, lab):
        assert "report.html" in summary
    fleet = printed["deltann top --once --gateway 127.0.0.1:50051"]
    assert all(name in fleet for name in ("analyzer", "compiler", "converter", "cpu")), fleet
    assert "tiny" in printed["deltann sweep list --gateway gateway.example:50051"]
