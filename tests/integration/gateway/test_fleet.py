"""The fleet over gRPC, over HTTP and in `deltann top`: real Redis, real workers, a real gateway."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import grpc
import pytest
import redis
from deltann_gateway.metrics import serve_metrics
from loopback import HTTP
from prometheus_client.parser import text_string_to_metric_families

from deltann.client import GatewayClient
from deltann.client.fleet import fleet_view
from deltann.embedded.redis import redis_binary, redis_command, socket_folder, wait_for
from deltann.fleet import FleetView, WorkerRecord, observe
from deltann.queue import connect, names
from deltann.store import LocalStore
from deltann.sweep import KindCounts, SweepStatus
from deltann.v1 import fleet_pb2 as pb
from deltann.v1.fleet_pb2_grpc import FleetServiceStub

from .conftest import POOLS, Running

BIN = Path(sys.executable).parent


@pytest.fixture
def fleet(running: Running) -> Iterator[FleetServiceStub]:
    running.stack.wait_ready()
    with grpc.insecure_channel(running.address) as channel:
        yield FleetServiceStub(channel)


def still(view: FleetView) -> FleetView:
    """A view without what changes from one moment to the next."""
    quiet = {"seen": 0.0, "busy_seconds": 0.0, "now": None}
    return view.model_copy(
        update={
            "time": 0.0,
            "redis_used_bytes": 0,
            "workers": tuple(worker.model_copy(update=quiet) for worker in view.workers),
        }
    )


def test_it_tells_what_is_observed(running: Running, client: GatewayClient) -> None:
    running.stack.wait_ready()
    told, seen = client.fleet(), observe(connect(running.stack.redis_url), POOLS)
    assert still(told) == still(seen)
    assert 0 <= seen.time - told.time < 10
    assert {worker.service for worker in told.workers} == {"arithmetic", "converter"}
    assert [(pool.name, pool.about, pool.defined) for pool in told.pools if pool.name == "lab"] == [
        ("lab", "boards", True)
    ]


def test_a_watch_tells_again_and_again_until_the_client_goes(fleet: FleetServiceStub) -> None:
    watch = fleet.WatchFleet(pb.WatchFleetRequest(every_s=0.5), timeout=20)
    views = [fleet_view(next(watch).fleet) for _ in range(3)]
    watch.cancel()
    gaps = [after.time - before.time for before, after in pairwise(views)]
    assert all(0.45 <= gap < 5 for gap in gaps)
    assert {view.pools[0].about for view in views} == {"boards"}


@pytest.mark.parametrize("every_s", [0.1, 61.0, -1.0, float("inf"), float("nan")])
def test_an_interval_out_of_bounds_is_refused(fleet: FleetServiceStub, every_s: float) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        next(fleet.WatchFleet(pb.WatchFleetRequest(every_s=every_s), timeout=10))
    assert raised.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert f"every_s is {every_s:g}; it has to be 0.5 to 60 seconds." in raised.value.details()


def scrape(port: int) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    with HTTP.open(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def test_metrics_over_http_follow_redis_through_its_death_and_its_return(tmp_path: Path) -> None:
    socket, data = socket_folder() / "r.sock", tmp_path / "redis"
    data.mkdir()
    url = f"unix://{socket}"

    def start() -> subprocess.Popen[bytes]:
        server = subprocess.Popen(redis_command(redis_binary(), socket, data), stdout=subprocess.DEVNULL)
        wait_for(url, 10)
        return server

    server = start()
    metrics = serve_metrics("127.0.0.1:0", url, POOLS, LocalStore(tmp_path / "store"))
    try:
        client = connect(url)
        running = SweepStatus(id="s-1", name="s", state="running", counts={"add": KindCounts(waiting=2)})
        client.set(names.status("s-1"), running.model_dump_json())
        client.set(names.status("s-2"), '{"of": "another version"}')
        client.rpush("exec.lab", json.dumps({"headers": {"sent": time.time() - 60}}))
        found = scrape(metrics.server_port)
        assert found["deltann_redis_up"] == {(): 1.0}
        assert found["deltann_queue_depth"][("priority", "0"), ("queue", "exec.lab")] == 1
        assert found["deltann_queue_workers"][("queue", "exec.lab"),] == 0
        assert found["deltann_queue_oldest_seconds"][("queue", "exec.lab"),] == pytest.approx(60, abs=10)
        assert found["deltann_sweeps"][("state", "running"),] == 1
        place = ("kind", "add"), ("name", "s"), ("state", "waiting"), ("sweep", "s-1")
        assert found["deltann_sweep_jobs"][place] == 2
        assert found["deltann_redis_used_bytes"][()] > 0
        server.kill()
        server.wait()
        assert scrape(metrics.server_port)["deltann_redis_up"] == {(): 0.0}
        assert "deltann_queue_depth" not in scrape(metrics.server_port)
        server = start()
        found = scrape(metrics.server_port)
        assert found["deltann_redis_up"] == {(): 1.0}
        assert found["deltann_queue_depth"][("priority", "0"), ("queue", "exec.lab")] == 1
    finally:
        metrics.shutdown()
        metrics.server_close()
        server.kill()
        server.wait()


def test_a_worker_of_another_version_hides_nobody(running: Running) -> None:
    running.stack.wait_ready()
    client: redis.Redis = connect(running.stack.redis_url)
    known = observe(client).workers
    later = {**known[0].model_dump(mode="json"), "host": "later", "invention": 1}
    later["device"] = {**later["device"], "npu": "x"}
    client.set(f"{names.WORKERS}later:1", json.dumps(later), ex=20)
    client.set(f"{names.WORKERS}odd:1", '{"host": "odd"}', ex=20)
    try:
        hosts = [worker.host for worker in observe(client).workers]
    finally:
        client.delete(f"{names.WORKERS}later:1", f"{names.WORKERS}odd:1")
    assert sorted(hosts) == sorted([*(worker.host for worker in known), "later"])


def top(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DELTANN_GATEWAY")}
    return subprocess.run(
        [BIN / "deltann", "top", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**environment, "COLUMNS": "100"},
    )


@pytest.mark.parametrize("where", ["home", "gateway"])
def test_top_shows_the_fleet_of_a_stack_and_of_a_gateway(running: Running, where: str) -> None:
    running.stack.wait_ready()
    place = ("--home", str(running.stack.home)) if where == "home" else ("--gateway", running.address)
    once = top("--once", *place)
    assert once.returncode == 0, once.stderr
    assert once.stdout.startswith("2 workers, ")
    assert "converter" in once.stdout
    told = top("--json", *place)
    assert told.returncode == 0, told.stderr
    view = FleetView.model_validate_json(told.stdout)
    workers: tuple[WorkerRecord, ...] = view.workers
    assert {worker.service for worker in workers} == {"arithmetic", "converter"}


def test_top_of_nothing_says_what_to_start(tmp_path: Path) -> None:
    ended = top("--once", "--home", str(tmp_path))
    assert ended.returncode == 3
    assert "Nothing runs in" in ended.stderr
    assert "`deltann stack up`" in ended.stderr
