"""The stack of docker-compose.yml in containers: the same tables as the embedded stack's, and nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .containers.composed import TORCH, Composed, leftovers
from .sweeps import SHARED, Swept, sweep
from .test_mobilenet import SPEC as MOBILENET
from .test_small_sweep import tables
from .tiny import network, write_photos

pytestmark = pytest.mark.skipif(
    not os.environ.get("DELTANN_CONTAINERS"), reason="run with its images by `make test-containers`"
)

STUDY = """
schema: deltann.study/1
name: tiny
models:
  - name: tiny
    natives: [{source: tiny.onnx}]
    preprocessing: [unit]
data: {source: photos}
conversions: {pairs: [[onnx, tflite]]}
timing: {inputs: 2, repeats: 3}
gates: {max_disagreement: 0.0}
"""
ARM64 = "localhost/deltann-executor-arm64:test"
INPUTS = 1200
"""Three shards, so that there is work for two executors at a time."""


@pytest.fixture(scope="module")
def composed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composed]:
    with Composed(tmp_path_factory.mktemp("composed")) as stack:
        yield stack
    assert leftovers() == []


def study(folder: Path, settings: str) -> Path:
    network(folder / "tiny.onnx")
    write_photos(folder / "photos", INPUTS)
    (folder / "tiny.yaml").write_text(STUDY + settings)
    return folder / "tiny.yaml"


def run(composed: Composed, spec: Path, out: Path) -> Swept:
    done = composed.sweep(spec, out)
    assert done.returncode == 0, done.stdout + done.stderr + composed.compose("logs", "--tail", "40").stdout
    return Swept(0, done.stdout, json.loads((out / "report.json").read_text()), out)


def test_two_executors_in_containers_give_the_tables_of_the_embedded_stack(composed: Composed, tmp_path: Path) -> None:
    spec = study(tmp_path, "compile: {levels: [0, 4]}\n")
    swept = run(composed, spec, tmp_path / "composed")
    assert swept.report["inputs"]["n"] == INPUTS
    assert {variant["outcome"] for variant in swept.report["variants"]} == {"ok"}
    assert tables(swept) == tables(sweep(spec, tmp_path / "home", tmp_path / "embedded"))


def test_both_executors_have_worked_and_prometheus_knows(composed: Composed) -> None:
    shares = {one["host"]: n for one, n in composed.metric('deltann_worker_jobs_total{service="executor"}')}
    assert len(shares) == 2
    assert min(shares.values()) > 0, shares


def test_services_are_unprivileged_and_their_images_hold_no_other_service(composed: Composed) -> None:
    frameworks = {
        "gateway": "torch tensorflow tvm onnx scipy",
        "analyzer": "torch tensorflow tvm onnx",
        "compiler": "tensorflow keras pyarrow",
        "converter": "tvm pyarrow",
        "executor-cpu": "pyarrow tf2onnx",
    }
    for service, foreign in frameworks.items():
        name = composed.containers(service)[0]
        assert composed.podman("exec", name, "id", "-u").strip() == "10001"
        listed = composed.podman("exec", name, "sh", "-c", "ls /opt/deltann/lib/python3*/site-packages").split()
        assert {"deltann", f"deltann_{service.partition('-')[0]}"} <= set(listed)
        assert not set(foreign.split()) & set(listed), service
        assert sum(one.startswith("deltann_") and "-" not in one for one in listed) <= 2, listed
        with pytest.raises(subprocess.CalledProcessError):
            composed.podman("exec", name, "touch", "/opt/deltann/written")


@pytest.mark.parametrize("service", ["redis", "seaweedfs", "compiler", "executor-cpu", "analyzer", "prometheus"])
def test_stores_and_workers_have_no_way_out(composed: Composed, service: str) -> None:
    routes = composed.podman("exec", composed.containers(service)[0], "cat", "/proc/net/route").splitlines()[1:]
    assert routes
    assert "00000000" not in [route.split()[1] for route in routes]


@pytest.mark.skipif(not TORCH, reason="asked for with TORCH=1: its images hold PyTorch, at 6 GB each")
@pytest.mark.skipif(not SHARED.is_dir(), reason=f"the shared data is not at {SHARED} (DELTANN_SHARED)")
def test_four_frameworks_through_the_gateway_give_the_tables_of_the_embedded_stack(
    composed: Composed, tmp_path: Path
) -> None:
    swept = run(composed, MOBILENET, tmp_path / "composed")
    assert {variant["outcome"] for variant in swept.report["variants"]} == {"ok"}
    assert tables(swept) == tables(sweep(MOBILENET, tmp_path / "home", tmp_path / "embedded"))


@pytest.mark.skipif(not os.environ.get("DELTANN_ARM64"), reason="asked for with ARM64=1: it needs qemu")
def test_an_arm64_executor_joins_as_another_pool(composed: Composed) -> None:
    assert int(composed.podman("image", "inspect", "--format", "{{.Size}}", ARM64)) < 400e6
    composed.up("--no-deps", "executor-arm64")
    (executor,) = composed.containers("executor-arm64")
    assert composed.podman("exec", executor, "uname", "-m").strip() == "aarch64"
    deadline = time.monotonic() + 120
    while not (found := composed.metric('deltann_worker_info{queue="exec.arm64"}')) and time.monotonic() < deadline:
        time.sleep(3)
    assert [one["arch"] for one, _ in found] == ["aarch64"]
