"""The protocol around one message: what is reported and counted when something of ours fails."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import deltann_arithmetic as arithmetic
import pytest
import redis
from stacks import lines

from deltann.dispatcher.sending import message_of
from deltann.errors import StoreError
from deltann.job import JobMessage
from deltann.outcome import Outcome
from deltann.queue import connect, names
from deltann.service import find_service
from deltann.store import LocalStore
from deltann.store.layout import plan_key, read_all_done, read_done, read_result
from deltann.worker.children import Children
from deltann.worker.hostlock import HostLock
from deltann.worker.settle import Settler, describe_host
from deltann.worker.task import JobTask


class Store(LocalStore):
    """Refuses, as often as told, the keys that begin with a prefix."""

    refused: str = ""
    times = 0

    def _refuse(self, key: str) -> None:
        if self.refused and key.startswith(self.refused) and self.times:
            self.times -= 1
            raise StoreError("The store refuses. Start it again.")

    def put_if_absent(self, key: str, data: bytes) -> bool:
        self._refuse(key)
        return super().put_if_absent(key, data)

    def exists(self, key: str) -> bool:
        self._refuse(key)
        return super().exists(key)


class Desk:
    """A worker's task with all that it needs, and the reports that it has made."""

    def __init__(self, folder: Path, url: str) -> None:
        self.store, self.redis = Store(folder / "store"), connect(url)
        self.trace = folder / "trace"
        self.children = Children(arithmetic.NAME, self.store.url, folder / "cache")

    def task(self) -> JobTask:
        service = find_service(arithmetic.NAME)
        settler = Settler(service, self.store, self.children, HostLock(), describe_host(None))
        return JobTask(self.redis, self.store, settler)

    def message(self, value: float = 1.0, seconds: float = 0.0) -> JobMessage:
        graph = arithmetic.Graph()
        graph.job("add", value, seconds=seconds, trace=str(self.trace))
        self.store.put(plan_key("s"), graph.plan().model_dump_json().encode())
        return message_of("s", graph.jobs[0])

    def reports(self) -> list[dict[str, Any]]:
        return [json.loads(text) for text in self.redis.lrange(names.SETTLED, 0, -1)]

    def attempts(self) -> int:
        return int(self.redis.hget(names.attempts("s"), "0") or 0)


@pytest.fixture
def desk(tmp_path: Path, redis_url: str) -> Iterator[Desk]:
    made = Desk(tmp_path, redis_url)
    with made.children:
        yield made


@pytest.mark.parametrize("refused", ["results/", "sweeps/s/done/0"])
def test_a_record_that_cannot_be_put_is_trouble_and_put_the_next_time(desk: Desk, refused: str) -> None:
    body, task = desk.message().model_dump(mode="json"), desk.task()
    desk.store.refused, desk.store.times = refused, 10
    if refused.startswith("sweeps"):  # exists() looks at it first
        desk.store.exists = lambda key: LocalStore.exists(desk.store, key)  # type: ignore[method-assign]
    task(body)
    (report,) = desk.reports()
    assert (report["outcome"], report["trouble"]) == (None, "The store refuses. Start it again.")
    assert read_done(desk.store, "s", 0) is None
    assert desk.attempts() == 0, "a worker that lives to tell has lost no lease"
    assert not desk.redis.exists(names.lease("s", 0))
    desk.store.times = 0
    task(body)
    done = read_done(desk.store, "s", 0)
    assert done is not None
    assert (done.outcome, done.result_key is not None) == (Outcome.OK, True)
    assert read_result(desk.store, done.result_key or "") is not None
    assert desk.reports()[1]["outcome"] == "ok"
    assert len(list(desk.store.list("results/"))) == 1


def test_a_store_that_cannot_say_whether_a_sweep_is_cancelled_stops_no_job(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    body, task = desk.message(seconds=3.0).model_dump(mode="json"), desk.task()

    def refuse_later() -> None:
        time.sleep(0.5)
        desk.store.refused, desk.store.times = "sweeps/s/cancelled", 1

    breaker = threading.Thread(target=refuse_later)
    breaker.start()
    with caplog.at_level(logging.WARNING):
        task(body)
    breaker.join()
    assert desk.store.times == 0
    assert "is not known: The store refuses" in caplog.text
    assert [report["outcome"] for report in desk.reports()] == ["ok"]


def test_a_message_of_another_version_is_told(desk: Desk) -> None:
    body = desk.message().model_dump(mode="json")
    desk.task()({**body, "a_new_field": 1})
    desk.task()({"what": "is this"})
    (report,) = desk.reports()
    assert (report["graph"], report["index"], report["outcome"]) == ("s", 0, None)
    assert "another version of DeltaNN. Install the same version everywhere" in report["trouble"]
    assert desk.attempts() == 0


def test_an_object_that_another_version_wrote_is_told(desk: Desk) -> None:
    body, task = desk.message().model_dump(mode="json"), desk.task()
    task(body)
    (key,) = desk.store.list("results/")
    desk.store.put(key, b'{"a_new_field": 1}')
    desk.store.delete("sweeps/s/done/0")
    task(body)
    report = desk.reports()[1]
    assert report["outcome"] is None
    assert "Job 0 of s could not be settled: ValidationError" in report["trouble"]
    assert read_done(desk.store, "s", 0) is None


@pytest.mark.parametrize("torn", [b"", b'{"kind":"ad', bytes(64)], ids=["empty", "cut short", "zeros"])
def test_records_that_a_power_loss_left_torn_are_made_anew(desk: Desk, torn: bytes) -> None:
    body, task = desk.message().model_dump(mode="json"), desk.task()
    task(body)
    (key,) = desk.store.list("results/")
    for damaged in (key, "sweeps/s/done/0"):
        desk.store.put(damaged, torn)
    assert read_all_done(desk.store, "s") == {}
    task(body)
    done = read_done(desk.store, "s", 0)
    assert done is not None
    assert (done.outcome, done.reused) == (Outcome.OK, False)
    assert read_result(desk.store, done.result_key or "") is not None
    assert lines(desk.trace) == ["add 1.0"] * 2


def in_threads(*calls: Callable[[], None]) -> None:
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)


def test_a_message_delivered_twice_at_once_is_computed_once(desk: Desk, tmp_path: Path, redis_url: str) -> None:
    body = desk.message(seconds=1.0).model_dump(mode="json")
    other = Desk(tmp_path, redis_url)
    with other.children:
        in_threads(lambda: desk.task()(body), lambda: other.task()(body))
    assert len(lines(desk.trace)) == 1
    assert [report["outcome"] for report in desk.reports()] == ["ok"]
    assert desk.attempts() == 0, "what is settled is not counted any more"


def test_two_that_both_believe_to_hold_the_lease_store_one_result(
    desk: Desk, tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a Redis that lost its memory: both compute, the first writer wins and the other adopts."""
    monkeypatch.setattr("deltann.worker.hold.Lease.take_counted", lambda self, *_: 1)
    body = desk.message(seconds=1.0).model_dump(mode="json")
    other = Desk(tmp_path, redis_url)
    with other.children:
        in_threads(lambda: desk.task()(body), lambda: other.task()(body))
    assert len(lines(desk.trace)) == 2
    assert [report["outcome"] for report in desk.reports()] == ["ok", "ok"]
    assert len(list(desk.store.list("results/"))) == 1
    assert len(list(desk.store.list("sweeps/s/done/"))) == 1


def test_redis_that_goes_away_loses_no_result(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    body, task = desk.message().model_dump(mode="json"), desk.task()

    def gone(*_: object, **__: object) -> None:
        raise redis.ConnectionError("connection lost")

    for name in ("rpush", "ping", "pipeline"):
        monkeypatch.setattr(desk.redis, name, gone)
    began = time.monotonic()
    back = threading.Timer(1.5, monkeypatch.undo)
    back.start()
    task(body)
    assert time.monotonic() - began >= 1.5, "the message was acknowledged before Redis could take that"
    back.join()
    done = read_done(desk.store, "s", 0)
    assert done is not None
    assert done.outcome is Outcome.OK
