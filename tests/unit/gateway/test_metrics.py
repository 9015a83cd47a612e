"""The metrics of a known fleet, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from deltann_gateway.metrics import FleetCollector, metrics_of, serve_metrics
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from deltann import __version__
from deltann.errors import StackError
from deltann.fleet import DeviceInfo, FleetView, PoolView, Readings, WorkerRecord
from deltann.fleet.stats import Count
from deltann.fleet.view import QueueView
from deltann.store import LocalStore
from deltann.sweep import KindCounts, SweepStatus

DEVICE = DeviceInfo(arch="aarch64", cpu="Cortex-A72", cores=4, memory_bytes=4 << 30, board='Raspberry "Pi" 4')
WORKER = WorkerRecord(
    host="pi",
    pid=7,
    service="executor",
    queue="exec.pi4",
    pool="pi4",
    name="pi-1",
    code="0.1.0+ab",
    started=1.0,
    seen=9.0,
    state="busy",
    job="run m",
    since=2.0,
    jobs_done=3,
    busy_seconds=4.5,
    device=DEVICE,
    now=Readings(temperature_c=61.5),
)
VIEW = FleetView(
    time=10.0,
    services=(QueueView(name="compiler", depth={0: 1, 3: 2}, oldest_s=5.5),),
    pools=(PoolView(name="pi4", queue=QueueView(name="exec.pi4", depth={0: 0, 3: 0}, workers=1, busy=1)),),
    workers=(WORKER, WORKER.model_copy(update={"pid": 8, "state": "draining", "job": "", "now": Readings()})),
    counts=(
        Count(queue="exec.pi4", kind="execute", outcome="ok", reused=False, jobs=3, seconds=4.25),
        Count(queue="exec.pi4", kind="execute", outcome="run_failed", reused=True, jobs=1, seconds=0.5),
    ),
    redis_used_bytes=1000,
    redis_limit_bytes=4000,
)
SWEEPS = (
    SweepStatus(
        id="s-1",
        name="study",
        state="running",
        started=1700000000.0,
        counts={"execute": KindCounts(waiting=4, queued=3, running=2, done=1, outcomes={"ok": 1})},
    ),
    SweepStatus(id="s-0", name="old", state="done", counts={"execute": KindCounts(done=9)}),
)
ONE = 'device="pi-1",host="pi",pool="pi4",service="executor",worker="pi:7"'
TWO = ONE.replace("pi:7", "pi:8")
INFO = 'arch="aarch64",board="Raspberry \\"Pi\\" 4",code="0.1.0+ab",cpu="Cortex-A72",queue="exec.pi4"'
LINES = f"""
deltann_queue_depth{{priority="0",queue="compiler"}} 1.0
deltann_queue_depth{{priority="3",queue="compiler"}} 2.0
deltann_queue_depth{{priority="0",queue="exec.pi4"}} 0.0
deltann_queue_depth{{priority="3",queue="exec.pi4"}} 0.0
deltann_queue_oldest_seconds{{queue="compiler"}} 5.5
deltann_queue_oldest_seconds{{queue="exec.pi4"}} 0.0
deltann_queue_running{{queue="compiler"}} 0.0
deltann_queue_running{{queue="exec.pi4"}} 1.0
deltann_queue_workers{{queue="compiler"}} 0.0
deltann_queue_workers{{queue="exec.pi4"}} 1.0
deltann_queue_settled_total{{queue="compiler"}} 0.0
deltann_queue_settled_total{{queue="exec.pi4"}} 4.0
deltann_worker_info{{{INFO},worker="pi:7"}} 1.0
deltann_worker_info{{{INFO},worker="pi:8"}} 1.0
deltann_worker_up{{{ONE}}} 1.0
deltann_worker_up{{{TWO}}} 1.0
deltann_worker_busy{{{ONE}}} 1.0
deltann_worker_busy{{{TWO}}} 0.0
deltann_worker_draining{{{ONE}}} 0.0
deltann_worker_draining{{{TWO}}} 1.0
deltann_worker_jobs_total{{{ONE}}} 3.0
deltann_worker_jobs_total{{{TWO}}} 3.0
deltann_worker_busy_seconds_total{{{ONE}}} 4.5
deltann_worker_busy_seconds_total{{{TWO}}} 4.5
deltann_device_temperature_celsius{{{ONE}}} 61.5
deltann_jobs_total{{kind="execute",outcome="ok",queue="exec.pi4",reused="false"}} 3.0
deltann_jobs_total{{kind="execute",outcome="run_failed",queue="exec.pi4",reused="true"}} 1.0
deltann_job_seconds_total{{kind="execute",outcome="ok",queue="exec.pi4",reused="false"}} 4.25
deltann_job_seconds_total{{kind="execute",outcome="run_failed",queue="exec.pi4",reused="true"}} 0.5
deltann_sweeps{{state="queued"}} 0.0
deltann_sweeps{{state="resolving"}} 0.0
deltann_sweeps{{state="planning"}} 0.0
deltann_sweeps{{state="running"}} 1.0
deltann_sweeps{{state="analysing"}} 0.0
deltann_sweeps{{state="done"}} 1.0
deltann_sweeps{{state="failed"}} 0.0
deltann_sweeps{{state="cancelled"}} 0.0
deltann_sweep_started_timestamp_seconds{{name="study",sweep="s-1"}} 1.7e+09
deltann_sweep_jobs{{kind="execute",name="study",state="waiting",sweep="s-1"}} 4.0
deltann_sweep_jobs{{kind="execute",name="study",state="queued",sweep="s-1"}} 3.0
deltann_sweep_jobs{{kind="execute",name="study",state="running",sweep="s-1"}} 2.0
deltann_sweep_jobs{{kind="execute",name="study",state="done",sweep="s-1"}} 1.0
deltann_sweep_outcomes{{kind="execute",name="study",outcome="ok",sweep="s-1"}} 1.0
deltann_redis_used_bytes 1000.0
deltann_redis_limit_bytes 4000.0
""".strip().splitlines()


class Fixed(Collector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterator[Metric]:
        yield from self._metrics


def exposed(collector: Collector) -> list[str]:
    """The lines of Prometheus' text format, comments left out."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)
    return [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("#")]


def test_a_known_fleet_line_by_line() -> None:
    assert exposed(Fixed(metrics_of(VIEW, SWEEPS))) == LINES


def test_without_redis_what_does_not_need_it_is_told_all_the_same(tmp_path: Path) -> None:
    lines = exposed(FleetCollector("redis://127.0.0.1:1/0", {}, LocalStore(tmp_path)))
    told = dict(line.rsplit(" ", 1) for line in lines)
    assert list(told) == [
        f'deltann_build_info{{version="{__version__}"}}',
        "deltann_store_disk_free_bytes",
        "deltann_store_disk_bytes",
        "deltann_redis_up",
    ]
    assert told["deltann_redis_up"] == "0.0"
    assert 0 < float(told["deltann_store_disk_free_bytes"]) < float(told["deltann_store_disk_bytes"])


def test_a_store_that_is_no_folder_has_no_disk() -> None:
    lines = exposed(FleetCollector("redis://127.0.0.1:1/0", {}))
    assert not any(line.startswith("deltann_store_disk") for line in lines)


@pytest.mark.parametrize("listen", ["127.0.0.1:no-port", "256.0.0.1:0", "127.0.0.1:99999"])
def test_an_address_that_cannot_be_had_is_said(listen: str) -> None:
    with pytest.raises(StackError, match=f"^Metrics cannot be served on {listen}: "):
        serve_metrics(listen, "redis://127.0.0.1:1/0", {})
