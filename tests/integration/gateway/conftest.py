"""A real gateway over a real Redis, real workers and a local store; the jobs are arithmetic."""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from deltann_arithmetic import Graph
from deltann_gateway.door import Door
from deltann_gateway.server import Server
from deltann_gateway.uploads import UploadLimits

from deltann.client import GatewayClient
from deltann.embedded import EmbeddedStack, WorkerSpec
from deltann.fleet.pools import Pool, Requirements
from deltann.job import JobResult, Plan
from deltann.spec.models import Study
from deltann.store import ArtifactStore
from deltann.sweep import SweepBackend

HERE = Path(__file__).resolve().parent
SUPPORT = (HERE / "support", HERE.parent / "support")

POOLS = {"lab": Pool(about="boards", requires=Requirements(arch="aarch64"))}


class NamedPlanner:
    """Plans by the study's name: a gateway admits no other place to hide a graph in."""

    def sweep_id(self, study: Study) -> str:
        return f"{study.name}-1"

    def resolve(self, study: Study) -> Plan:
        graph = Graph()
        graph.job("fail" if study.name.startswith("bad") else "add", 0.0)
        return graph.plan()

    def sweep(self, study: Study, results: Mapping[int, JobResult]) -> Plan:
        graph = Graph()
        if study.name.startswith("slow"):
            graph.job("add", 0.0, seconds=60.0)
        else:
            first = graph.job("add", 20.0)
            failing = graph.job("fail", 0.0)
            ends = (graph.job("add", 22.0, first), failing, graph.job("add", 5.0, failing))
            graph.job("analyze", 0.0, after=ends)
            if study.name.startswith("gate"):
                graph.jobs[-1] = graph.jobs[-1].model_copy(update={"params": {"gates_ok": False}})
        return graph.plan()


def study(name: str, source: str = "efficientnet_lite0", data: str = "foolbox:imagenet", **native: object) -> Study:
    return Study.model_validate(
        {
            "schema": "deltann.study/1",
            "name": name,
            "models": [{"name": "m", "natives": [{"source": source, **native}], "preprocessing": ["tf"]}],
            "data": {"source": data},
        }
    )


@dataclass(frozen=True)
class Running:
    address: str
    stack: EmbeddedStack


@contextmanager
def serving(backend: SweepBackend, store: ArtifactStore, redis_url: str, door: Door) -> Iterator[str]:
    """A gateway in a thread; its address."""
    server = Server(backend, store, redis_url, door, pools=POOLS)
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    ready: queue.Queue[int] = queue.Queue()
    thread = threading.Thread(target=loop.run_until_complete, args=(server.serve(stop, ready.put),), daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{ready.get(timeout=10)}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(timeout=10)
        assert not thread.is_alive()
        loop.close()


def door(uploads: Path, **options: Any) -> Door:
    """A door on loopback for small artifacts."""
    limits = UploadLimits(artifact_bytes=3_000_000, partial=6, partial_bytes=9_000_000, idle_s=1.0)
    return Door("127.0.0.1:0", uploads=uploads, **{"limits": limits, **options})


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    home = tmp_path_factory.mktemp("gateway")
    workers = [WorkerSpec(service="gated_arithmetic:SERVICE"), WorkerSpec(service="converter")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(
            "PYTHONPATH", os.pathsep.join(map(str, SUPPORT)), prepend=os.pathsep
        )  # workers and their children import it
        with (
            EmbeddedStack(home, workers, planner=NamedPlanner()) as stack,
            serving(stack.backend, stack.store, stack.redis_url, door(home / "uploads")) as address,
        ):
            yield Running(address, stack)


@pytest.fixture
def client(running: Running) -> Iterator[GatewayClient]:
    with GatewayClient(running.address) as client:
        yield client
