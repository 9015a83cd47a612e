"""A real worker process: how it registers, ends, and is told what is missing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import deltann_arithmetic as arithmetic
import psutil
import pytest
from stacks import lines, until

from deltann.dispatcher.sending import message_of
from deltann.fleet import WorkerRecord
from deltann.job import Plan
from deltann.outcome import Outcome
from deltann.queue import Publisher, connect, names
from deltann.store import LocalStore
from deltann.store.layout import plan_key, read_done

Start = Callable[[], "subprocess.Popen[bytes]"]


def send(store: LocalStore, redis_url: str, plan: Plan) -> Publisher:
    store.put(plan_key("s"), plan.model_dump_json().encode())
    publisher = Publisher(redis_url)
    publisher.send(message_of("s", job) for job in plan.jobs)
    return publisher


def test_it_registers_what_it_is(redis_url: str, start_worker: Start) -> None:
    worker, client = start_worker(), connect(redis_url)
    until(lambda: list(client.scan_iter(f"{names.WORKERS}*")))
    (key,) = client.scan_iter(f"{names.WORKERS}*")
    about = WorkerRecord.model_validate_json(str(client.get(key)))
    assert (about.service, about.queue, about.pid, about.state) == ("arithmetic", "arithmetic", worker.pid, "idle")
    assert about.device.cores == len(os.sched_getaffinity(0))
    assert about.device.arch == os.uname().machine
    assert about.name == about.device.cpu


@pytest.mark.parametrize(("number", "finished"), [(signal.SIGTERM, True), (signal.SIGQUIT, False)])
def test_sigterm_ends_after_the_job_in_hand_and_sigquit_at_once(
    store: LocalStore, redis_url: str, start_worker: Start, tmp_path: Path, number: int, finished: bool
) -> None:
    worker, trace = start_worker(), tmp_path / "trace"
    graph = arithmetic.Graph()
    for value in (1, 2):
        graph.job("add", value, seconds=2.0, trace=str(trace))
    publisher = send(store, redis_url, graph.plan())
    until(lambda: lines(trace))
    family = psutil.Process(worker.pid).children(recursive=True)
    began = time.monotonic()
    worker.send_signal(number)
    worker.wait(timeout=10)
    assert (read_done(store, "s", 0) is not None) == finished
    assert finished or time.monotonic() - began < 1.8
    until(lambda: not any(member.is_running() and member.status() != "zombie" for member in family), 5)
    assert read_done(store, "s", 1) is None
    assert publisher.depth("arithmetic") >= 1, "what was not begun is in the queue still"
    publisher.close()


def test_messages_are_settled_reported_and_acknowledged(store: LocalStore, redis_url: str, start_worker: Start) -> None:
    start_worker()
    graph = arithmetic.Graph()
    graph.job("add", 1)
    graph.job("leave")
    publisher, client = send(store, redis_url, graph.plan()), connect(redis_url)
    until(lambda: client.llen(names.SETTLED) == 2)
    reports = [json.loads(text) for text in client.lrange(names.SETTLED, 0, -1)]
    assert [(report["graph"], report["index"], report["outcome"]) for report in reports] == [
        ("s", 0, "ok"),
        ("s", 1, "crashed"),
    ]
    done = read_done(store, "s", 1)
    assert done is not None
    assert done.outcome is Outcome.CRASHED
    assert client.keys("unacked*") == [], "what is in hand is known by its lease"
    assert not client.exists(names.lease("s", 0))
    assert not client.exists(names.attempts("s"))
    # Sent again it is reported again, and not computed.
    publisher.send([message_of("s", graph.jobs[0])])
    until(lambda: client.llen(names.SETTLED) == 3)
    assert not client.exists(names.attempts("s"))
    publisher.close()


def test_a_job_too_large_for_a_message_is_read_from_the_plan(
    store: LocalStore, redis_url: str, start_worker: Start, tmp_path: Path
) -> None:
    start_worker()
    graph = arithmetic.Graph()
    graph.job("add", 4, sources={f"source-{number}": store.put_bytes(b"x", "x" * 200) for number in range(10)})
    send(store, redis_url, graph.plan()).close()
    until(lambda: read_done(store, "s", 0))
    done = read_done(store, "s", 0)
    assert done is not None
    assert done.outcome is Outcome.OK


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--redis", "redis://127.0.0.1:1/0", "--store", "STORE"], 3, "failed or is not there"),
        (["--redis", "redis://127.0.0.1:1/0", "--store", "ftp://x"], 3, "of no kind that is known"),
    ],
)
def test_what_is_missing_is_told_in_a_paragraph(tmp_path: Path, arguments: list[str], code: int, told: str) -> None:
    arguments = [str(tmp_path / "store") if argument == "STORE" else argument for argument in arguments]
    ended = subprocess.run(
        [sys.executable, "-m", "deltann.worker", arithmetic.NAME, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == code
    assert told in ended.stderr
    assert "Traceback" not in ended.stderr
    unknown = [sys.executable, "-m", "deltann.worker", "nothing", "--store", str(tmp_path / "store")]
    ended = subprocess.run(unknown, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "There is no service 'nothing'; installed are" in ended.stderr


def test_a_killed_worker_leaves_no_process_behind(
    store: LocalStore, redis_url: str, start_worker: Start, tmp_path: Path
) -> None:
    """Not even one in a session of its own that its parent has left."""
    worker, trace = start_worker(), tmp_path / "trace"
    graph = arithmetic.Graph()
    graph.job("forsake", trace=str(trace))
    send(store, redis_url, graph.plan()).close()
    until(lambda: len(trace.read_text().split()) == 2 if trace.exists() else False)
    worker.kill()
    worker.wait()
    for pid in map(int, trace.read_text().split()):
        until(lambda pid=pid: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE, 5)
