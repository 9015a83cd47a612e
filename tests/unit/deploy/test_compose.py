"""The Compose file by Compose's own check, and what must hold for a stack that faces a network."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deltann.fleet import read_pools
from deltann.service import find_service
from deltann.signing import read_keys

ROOT = Path(__file__).resolve().parents[3]
COMPOSE = Path(sys.executable).with_name("docker-compose")
SECRETS = {
    "DELTANN_REDIS_PASSWORD": "one",
    "DELTANN_S3_ACCESS_KEY": "two",
    "DELTANN_S3_SECRET_KEY": "three",
    "DELTANN_GRAFANA_PASSWORD": "four",
    "DELTANN_FLOWER_AUTH": "five:six",
    "DELTANN_SECRETS": "/somewhere",
}
BUILT = {"gateway", "converter", "trainer", "compiler", "executor-cpu", "analyzer"}
BOUGHT = {"redis", "seaweedfs", "prometheus", "grafana", "flower"}


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
    done = config("--profile", "*", **SECRETS)
    assert done.returncode == 0, done.stderr
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def test_compose_has_every_service(composed: dict[str, Any]) -> None:
    assert set(composed["services"]) == BUILT | BOUGHT | {"minio", "executor-cuda"}


def test_minio_and_gpus_are_left_out_unless_asked_for() -> None:
    done = config(**SECRETS)
    assert set(json.loads(done.stdout)["services"]) == BUILT | BOUGHT


@pytest.mark.parametrize("missing", sorted(SECRETS))
def test_compose_refuses_to_start_without_a_secret(missing: str) -> None:
    done = config(**{name: value for name, value in SECRETS.items() if name != missing})
    assert done.returncode != 0
    assert missing in done.stderr


def test_only_the_gateway_and_the_dashboards_publish_a_port_and_on_loopback(composed: dict[str, Any]) -> None:
    published = {name: service["ports"] for name, service in composed["services"].items() if service.get("ports")}
    assert set(published) == {"gateway", "grafana", "flower"}
    assert {port["host_ip"] for ports in published.values() for port in ports} == {"127.0.0.1"}


def test_everything_has_a_health_check(composed: dict[str, Any]) -> None:
    assert [name for name, service in composed["services"].items() if not service.get("healthcheck")] == []


def test_stores_are_on_the_internal_network_alone(composed: dict[str, Any]) -> None:
    assert composed["networks"]["back"]["internal"] is True
    for name in (
        "redis",
        "seaweedfs",
        "minio",
        "prometheus",
        "trainer",
        "compiler",
        "executor-cpu",
        "executor-cuda",
        "analyzer",
    ):
        assert list(composed["services"][name]["networks"]) == ["back"], name


def test_redis_and_the_store_take_nobody_without_credentials(composed: dict[str, Any]) -> None:
    services = composed["services"]
    command = services["redis"]["command"]
    assert command[command.index("--requirepass") + 1] == SECRETS["DELTANN_REDIS_PASSWORD"]
    for store, (access, secret) in {
        "seaweedfs": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
        "minio": ("MINIO_ROOT_USER", "MINIO_ROOT_PASSWORD"),
    }.items():
        environment = services[store]["environment"]
        assert environment[access] == SECRETS["DELTANN_S3_ACCESS_KEY"]
        assert environment[secret] == SECRETS["DELTANN_S3_SECRET_KEY"]


def test_services_of_our_own_can_write_to_their_volumes_alone(composed: dict[str, Any]) -> None:
    for name in (*BUILT, "executor-cuda"):
        service = composed["services"][name]
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name


def test_the_compiler_alone_has_the_private_key_and_executors_its_public_half(composed: dict[str, Any]) -> None:
    secrets = {
        name: {one["source"] for one in service.get("secrets", ())} for name, service in composed["services"].items()
    }
    assert [name for name, has in secrets.items() if "signing_key" in has] == ["compiler"]
    assert {name for name, has in secrets.items() if "module_keys" in has} == {
        "compiler",
        "executor-cpu",
        "executor-cuda",
    }
    for name in ("executor-cpu", "executor-cuda", "compiler"):
        environment = composed["services"][name]["environment"]
        assert environment["DELTANN_MODULE_KEYS"] == "/run/secrets/module_keys"
        assert environment["DELTANN_REDIS"]
        assert ("DELTANN_SIGNING_KEY" in environment) is (name == "compiler")


def test_workers_share_the_lock_of_the_host_and_nothing_else(composed: dict[str, Any]) -> None:
    for name in BUILT - {"gateway"}:
        volumes = {one["target"]: one.get("source") for one in composed["services"][name]["volumes"]}
        assert volumes == {"/home/deltann": None, "/tmp": None, "/run/deltann": "host-lock"}, name


def test_a_worker_has_time_to_end_its_longest_job(composed: dict[str, Any]) -> None:
    longest = max(
        kind.seconds for name in ("converter", "compiler", "executor", "analyzer") for kind in find_service(name).kinds
    )
    for name in BUILT - {"gateway"}:
        hours, minutes, seconds = re.fullmatch(
            r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", composed["services"][name]["stop_grace_period"]
        ).groups("0")  # type: ignore[union-attr]
        assert int(hours) * 3600 + int(minutes) * 60 + int(seconds) > longest, name


def test_every_pool_of_an_executor_is_defined(composed: dict[str, Any]) -> None:
    defined = read_pools(ROOT / "deploy/pools/pools.yml")
    for service in composed["services"].values():
        command = service.get("command") or []
        if "--pool" in command:
            assert command[command.index("--pool") + 1] in defined


def test_images_from_elsewhere_are_pinned(composed: dict[str, Any]) -> None:
    for name in BOUGHT | {"minio"}:
        image = composed["services"][name]["image"]
        assert re.search(r":[^:]*\d", image), image
        assert not image.endswith(":latest")


@pytest.mark.parametrize(
    "name", ["gateway", "converter", "trainer", "compiler", "executor", "executor-jetson", "analyzer"]
)
def test_dockerfile_is_multi_stage_non_root_and_pinned(name: str) -> None:
    text = (ROOT / f"deploy/docker/{name}.Dockerfile").read_text()
    assert len(re.findall(r"^FROM ", text, re.M)) >= 4
    last = text[text.rindex("FROM ") :]
    assert re.search(r"^USER 10001$", last, re.M)
    assert "pip" not in last
    assert "COPY constraints.txt" in text
    # What is fetched is pinned; what is not pinned is built here and fetches nothing.
    installs = [line for line in text.splitlines() if "pip install" in line]
    assert installs
    assert all("-c constraints.txt" in line or "--no-deps" in line for line in installs)
    for source in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.M):
        for path in source.split():
            assert (ROOT / path).exists(), path


def test_the_script_makes_keys_that_fit_and_no_secret_is_for_strangers(tmp_path: Path) -> None:
    (tmp_path / "deploy").mkdir()
    shutil.copy(ROOT / "deploy/secrets.sh", tmp_path / "deploy")
    environment = os.environ | {"DELTANN_VENV": str(Path(sys.executable).parents[1])}
    subprocess.run([tmp_path / "deploy/secrets.sh"], check=True, capture_output=True, env=environment)
    folder = tmp_path / "deploy/secrets"
    keys = read_keys(folder / "signing.key", folder / "signing.pub")
    assert keys.signer is not None
    assert keys.trusted == (keys.signer.public,)
    assert folder.stat().st_mode & 0o077 == 0
    assert (tmp_path / ".env").stat().st_mode & 0o077 == 0
    assert (folder / "token").stat().st_mode & 0o077 == 0
