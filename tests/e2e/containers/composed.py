"""A Compose stack on podman: its engine, its secrets, its health checks, and nothing left of it afterwards."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
PROJECT = "deltann-test"
TORCH = bool(os.environ.get("DELTANN_TORCH"))
"""Whether the images hold PyTorch."""
# Grafana and Flower are in neither Debian nor PyPI as images: their part of the file is checked, not run.
SERVICES = ("gateway", "converter", "compiler", "executor-cpu", "analyzer", "prometheus")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Composed:
    """Use it as a context manager: the stack is up inside, and gone after it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.gateway = f"127.0.0.1:{free_port()}"
        # A socket's path may have 107 bytes at most.
        self._run = Path(tempfile.mkdtemp(prefix="podman-"))
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("DELTANN_", "COMPOSE_"))},
            "CONTAINERS_CONF": str(HERE / "containers.conf"),
            "DOCKER_HOST": f"unix://{self._run}/api.sock",
            "DELTANN_TAG": "test",
            "DELTANN_GATEWAY_PORT": self.gateway.rpartition(":")[2],
            **self._secrets(),
        }
        self._ended = threading.Event()
        self._pulse = threading.Thread(target=self._check_health, daemon=True)

    def _secrets(self) -> dict[str, str]:
        """Those that the operator's own script makes, in a copy of the repository's part that it needs."""
        deploy = self.folder / "deploy"
        deploy.mkdir()
        shutil.copy(ROOT / "deploy/secrets.sh", deploy)
        environment = {**os.environ, "DELTANN_VENV": str(BIN.parent)}
        subprocess.run([deploy / "secrets.sh"], check=True, env=environment, capture_output=True)
        lines = (self.folder / ".env").read_text().split()
        return dict(line.split("=", 1) for line in lines)

    @property
    def client(self) -> dict[str, str]:
        """The environment of a client of the gateway."""
        secrets = self.folder / "deploy/secrets"
        return {
            **os.environ,
            "DELTANN_CA": str(secrets / "tls.crt"),
            "DELTANN_TOKEN_FILE": str(secrets / "token"),
            "DELTANN_GATEWAY": self.gateway,
        }

    def __enter__(self) -> Self:
        api = ["podman", "system", "service", "--time=0", self._environment["DOCKER_HOST"]]
        self._engine = subprocess.Popen(api, env=self._environment, stderr=subprocess.DEVNULL)
        while not (self._run / "api.sock").exists():
            assert self._engine.poll() is None, "podman's service ended"
            time.sleep(0.1)
        self._pulse.start()
        try:
            self.up("--scale", "executor-cpu=2", *SERVICES)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._pulse.join()
        done = self.compose("--profile", "*", "down", "--volumes", "--timeout", "5", "--remove-orphans")
        self._engine.terminate()
        self._engine.wait()
        shutil.rmtree(self._run)
        assert done.returncode == 0, done.stderr

    def up(self, *arguments: str) -> None:
        done = self.compose(
            "up", "--detach", "--no-build", "--pull", "never", "--wait", "--wait-timeout", "300", *arguments
        )
        assert done.returncode == 0, done.stderr[-3000:] + self.compose("logs", "--tail", "20").stdout[-6000:]

    def compose(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        files = ["-f", ROOT / "docker-compose.yml", "-f", HERE / "compose.yml"]
        files += [] if TORCH else ["-f", HERE / "without_torch.yml"]
        command = [BIN / "docker-compose", "--project-name", PROJECT, *files, *arguments]
        return subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)

    def podman(self, *arguments: str) -> str:
        command = ["podman", *arguments]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=True)
        return done.stdout

    def containers(self, service: str = "") -> list[str]:
        label = f"label=com.docker.compose.project={PROJECT}"
        wanted = ["--filter", f"label=com.docker.compose.service={service}"] if service else []
        return self.podman("ps", "--filter", label, *wanted, "--format", "{{.Names}}").split()

    def sweep(self, spec: Path, out: Path) -> subprocess.CompletedProcess[str]:
        command = [BIN / "deltann", "sweep", "run", spec, "--gateway", self.gateway, "--out", out]
        return subprocess.run(command, env=self.client, capture_output=True, text=True, check=False)

    def metric(self, name: str) -> list[tuple[dict[str, str], int]]:
        """Labels and values of a metric, as Prometheus knows it from the gateway."""
        (prometheus,) = self.containers("prometheus")
        query = f"http://127.0.0.1:9090/api/v1/query?query={quote(name)}"
        found = json.loads(self.podman("exec", prometheus, "wget", "-q", "-O", "-", query))["data"]["result"]
        return [(one["metric"], int(one["value"][1])) for one in found]

    def _check_health(self) -> None:
        """Run the health checks that podman leaves to systemd timers, which this machine may not have."""
        while not self._ended.wait(2):
            for name in self.containers():
                subprocess.run(
                    ["podman", "healthcheck", "run", name], env=self._environment, capture_output=True, check=False
                )


def leftovers() -> list[str]:
    """Containers, networks and volumes of the project that are still there."""
    found = []
    for kind, name in (("container", "{{.Names}}"), ("network", "{{.Name}}"), ("volume", "{{.Name}}")):
        listing = ["podman", kind, "ls", "--format", name, *(["--all"] if kind == "container" else [])]
        done = subprocess.run(listing, capture_output=True, text=True, check=True)
        found += [one for one in done.stdout.split() if PROJECT in one]
    return found
