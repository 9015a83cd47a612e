"""The log of a real worker, as a log collector reads it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import deltann_arithmetic as arithmetic
import pytest
from stacks import until

from deltann.dispatcher.sending import message_of
from deltann.queue import Publisher, connect, names
from deltann.store import LocalStore
from deltann.store.layout import plan_key

Start = Callable[[], "subprocess.Popen[bytes]"]


def test_every_line_is_json_and_lines_of_a_job_name_it(
    store: LocalStore, redis_url: str, start_worker: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELTANN_LOG_FORMAT", "json")
    worker = start_worker()
    graph = arithmetic.Graph()
    graph.job("add", 1)
    graph.job("fail", 0)
    plan = graph.plan()
    store.put(plan_key("s-1"), plan.model_dump_json().encode())
    publisher = Publisher(redis_url)
    publisher.send(message_of("s-1", job) for job in plan.jobs)
    publisher.close()
    until(lambda: connect(redis_url).llen(names.SETTLED) == 2)
    worker.terminate()
    worker.wait(timeout=20)
    lines = [json.loads(line) for line in (tmp_path / "worker-0.log").read_text().splitlines()]
    assert {(line["service"], line["pid"], line["pool"]) for line in lines} == {("arithmetic", worker.pid, None)}
    assert lines[-1]["message"] == "it takes no more jobs, and ends after the one in hand"
    told = {line["job"]: line for line in lines if line["job"]}
    assert sorted(told) == ["s-1#0", "s-1#1"]
    assert {line["sweep"] for line in told.values()} == {"s-1"}
    assert told["s-1#0"]["message"].startswith("add 1: ok in ")
    assert told["s-1#1"]["message"].startswith("fail 0: convert_failed in ")


def test_a_password_of_redis_shows_nowhere(tmp_path: Path) -> None:
    url = "redis://:s3cret-passw0rd@127.0.0.1:1/0"
    for form in ("text", "json"):
        ended = subprocess.run(
            [sys.executable, "-m", "deltann.worker", arithmetic.NAME, "--redis", url, "--store", tmp_path / "store"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env={**os.environ, "DELTANN_LOG_FORMAT": form, "DELTANN_LOG_LEVEL": "debug"},
        )
        assert ended.returncode == 3
        assert "127.0.0.1:1" in ended.stderr
        assert "s3cret-passw0rd" not in ended.stdout + ended.stderr
