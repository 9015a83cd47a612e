"""The fleet seen through a real Redis, with real workers."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import deltann_arithmetic as arithmetic
import pytest
import redis
from stacks import lines, until

from deltann.dispatcher.sending import message_of
from deltann.fleet import Pool, observe
from deltann.fleet.view import rate
from deltann.job import Plan
from deltann.queue import Publisher, connect, names
from deltann.store import LocalStore
from deltann.store.layout import plan_key

Start = Callable[[], "subprocess.Popen[bytes]"]


@pytest.fixture
def client(redis_url: str) -> redis.Redis:
    return connect(redis_url)


def send(store: LocalStore, redis_url: str, plan: Plan, priority: int = 3) -> None:
    store.put(plan_key("s"), plan.model_dump_json().encode())
    publisher = Publisher(redis_url)
    publisher.send((message_of("s", job) for job in plan.jobs), priority)
    publisher.close()


def test_an_empty_redis_has_the_service_queues_and_the_defined_pools(client: redis.Redis) -> None:
    view = observe(client, {"pi4": Pool(about="boards")})
    assert [queue.name for queue in view.services] == ["analyzer", "compiler", "converter", "trainer"]
    assert [(pool.name, pool.about, pool.defined, pool.queue.name) for pool in view.pools] == [
        ("pi4", "boards", True, "exec.pi4")
    ]
    assert (view.workers, view.counts, view.jobs_done) == ((), (), 0)
    assert all(queue.waiting == 0 and queue.oldest_s is None and not queue.stranded for queue in view.queues)
    assert view.redis_used_bytes > 0


def test_a_pool_without_workers_shows_as_waiting_with_the_age_of_its_oldest_job(
    store: LocalStore, redis_url: str, client: redis.Redis
) -> None:
    graph = arithmetic.Graph()
    for value in range(3):
        graph.job("add", value, queue="exec.pi4")
    send(store, redis_url, graph.plan())
    time.sleep(0.3)
    send(store, redis_url, graph.plan(), priority=0)
    view = observe(client, {"cpu": Pool()})
    cpu, pi4 = view.pools
    assert (pi4.name, pi4.defined, pi4.queue.depth, pi4.queue.stranded) == (
        "pi4",
        False,
        {0: 3, 3: 3, 6: 0, 9: 0},
        True,
    )
    assert pi4.queue.oldest_s is not None
    assert 0.3 <= pi4.queue.oldest_s < 10
    assert (cpu.queue.waiting, cpu.queue.stranded) == (0, False)


def test_a_worker_is_seen_idle_busy_draining_and_gone(
    store: LocalStore, redis_url: str, client: redis.Redis, start_worker: Start, tmp_path: Path
) -> None:
    worker = start_worker()
    until(lambda: observe(client).workers)
    (idle,) = observe(client).workers
    assert (idle.state, idle.job, idle.jobs_done, idle.pid) == ("idle", "", 0, worker.pid)
    graph, trace = arithmetic.Graph(), tmp_path / "trace"
    graph.job("add", 1, seconds=8.0, trace=str(trace))
    send(store, redis_url, graph.plan())
    until(lambda: lines(trace))
    until(lambda: observe(client).workers[0].state == "busy", 8)
    (busy,) = observe(client).workers
    assert busy.job == "add 1"
    assert busy.busy_seconds > 0
    view = observe(client)
    (queue,) = [queue for queue in view.services if queue.name == "arithmetic"]
    assert (queue.workers, queue.busy, queue.waiting) == (1, 1, 0)
    worker.send_signal(signal.SIGTERM)
    until(lambda: observe(client).workers[0].state == "draining", 3)
    worker.wait(timeout=20)
    assert observe(client).workers == ()


def test_what_is_settled_is_counted_by_kind_outcome_and_reuse(
    store: LocalStore, redis_url: str, client: redis.Redis, start_worker: Start
) -> None:
    start_worker()
    before = observe(client)
    graph = arithmetic.Graph()
    for kind, value in (("add", 1), ("add", 2), ("add", 2), ("fail", 0)):
        graph.job(kind, value)
    send(store, redis_url, graph.plan())
    until(lambda: client.llen(names.SETTLED) == 4)
    view = observe(client)
    counted = {(count.kind, count.outcome, count.reused): count.jobs for count in view.counts}
    assert counted == {("add", "ok", False): 2, ("add", "ok", True): 1, ("fail", "convert_failed", False): 1}
    assert {count.queue for count in view.counts} == {"arithmetic"}
    assert all(count.seconds > 0 for count in view.counts)
    assert view.jobs_done == 4
    per_second = rate(before, view)
    assert per_second is not None
    assert per_second == pytest.approx(4 / (view.time - before.time))
    assert rate(view, before) is None


def test_a_worker_of_a_pool_that_its_device_does_not_fit_does_not_start(redis_url: str, tmp_path: Path) -> None:
    pools = tmp_path / "pools.yaml"
    pools.write_text("pools: {board: {requires: {arch: none-such}}, any: {}}")

    command = [sys.executable, "-m", "deltann.worker", arithmetic.NAME, "--redis", redis_url]
    command += ["--store", str(tmp_path / "store"), "--pools", str(pools), "--pool"]
    ended = subprocess.run([*command, "board"], capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 2
    assert "does not fit the pool 'board': it lacks architecture none-such" in ended.stderr
    ended = subprocess.run([*command, "other"], capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 2
    assert "it has any, board" in ended.stderr
