"""The Compose file by Compose's own check, and what must hold for a stack that faces a network."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
COMPOSE = Path(sys.executable).with_name("docker-compose")
SECRETS = {"DELTANN_REDIS_PASSWORD": "one", "DELTANN_S3_ACCESS_KEY": "two", "DELTANN_S3_SECRET_KEY": "three"}
BUILT = {"gateway", "converter", "compiler", "executor-cpu", "analyzer"}


def config(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("DELTANN_", "COMPOSE_"))}
    return subprocess.run(
        [COMPOSE, "-f", ROOT / "docker-compose.yml", *arguments, "config", "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
        env=clean | environment,
    )


@pytest.fixture(scope="module")
def composed() -> dict[str, Any]:
    done = config("--profile", "minio", **SECRETS)
    assert done.returncode == 0, done.stderr
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def test_compose_has_every_service(composed: dict[str, Any]) -> None:
    assert set(composed["services"]) == BUILT | {"redis", "seaweedfs", "minio"}


def test_minio_is_left_out_unless_asked_for() -> None:
    done = config(**SECRETS)
    assert set(json.loads(done.stdout)["services"]) == BUILT | {"redis", "seaweedfs"}


@pytest.mark.parametrize("missing", sorted(SECRETS))
def test_compose_refuses_to_start_without_a_secret(missing: str) -> None:
    done = config(**{name: value for name, value in SECRETS.items() if name != missing})
    assert done.returncode != 0
    assert missing in done.stderr


def test_only_the_gateway_publishes_a_port_and_on_loopback(composed: dict[str, Any]) -> None:
    published = {name: service["ports"] for name, service in composed["services"].items() if service.get("ports")}
    assert list(published) == ["gateway"]
    assert [port["host_ip"] for port in published["gateway"]] == ["127.0.0.1"]


def test_everything_has_a_health_check(composed: dict[str, Any]) -> None:
    assert [name for name, service in composed["services"].items() if not service.get("healthcheck")] == []


def test_stores_are_on_the_internal_network_alone(composed: dict[str, Any]) -> None:
    assert composed["networks"]["back"]["internal"] is True
    for name in ("redis", "seaweedfs", "minio"):
        assert list(composed["services"][name]["networks"]) == ["back"]


def test_images_from_elsewhere_are_pinned(composed: dict[str, Any]) -> None:
    for name in ("redis", "seaweedfs", "minio"):
        image = composed["services"][name]["image"]
        assert re.search(r":[^:]*\d", image), image
        assert not image.endswith(":latest")


@pytest.mark.parametrize("name", ["gateway", "converter", "compiler", "executor", "analyzer"])
def test_dockerfile_is_multi_stage_non_root_and_pinned(name: str) -> None:
    text = (ROOT / f"deploy/docker/{name}.Dockerfile").read_text()
    assert len(re.findall(r"^FROM ", text, re.M)) == 2
    last = text[text.rindex("FROM ") :]
    assert re.search(r"^USER deltann$", last, re.M)
    assert "COPY constraints.txt" in text
    assert all("-c constraints.txt" in line for line in text.splitlines() if "pip install" in line)
    for source in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.M):
        for path in source.split():
            assert path == "README.md" or (ROOT / path).exists(), path
