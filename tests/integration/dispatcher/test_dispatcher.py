"""Dispatcher and workers over a real Redis: faults, one by one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import deltann_arithmetic as arithmetic
import pytest
from stacks import lines, until

from deltann.dispatcher.dispatcher import Dispatcher
from deltann.dispatcher.sending import message_of
from deltann.errors import InputError, NotFoundError
from deltann.job import Done, JobResult, Plan
from deltann.outcome import Outcome
from deltann.queue import Publisher, connect, names
from deltann.store import LocalStore
from deltann.store.base import blob_key
from deltann.store.layout import (
    active_key,
    plan_key,
    read_all_done,
    read_done,
    read_plan,
    read_result,
    resolve_graph,
    sweep_key,
    write_done,
    write_result,
)
from deltann.sweep import KindCounts, LocalBackend, SweepStatus
from deltann.sweep.model import Submitted

Start = Callable[[], "subprocess.Popen[bytes]"]


@contextmanager
def dispatching(store: LocalStore, redis_url: str, **options: Any) -> Iterator[None]:
    stop = threading.Event()
    dispatcher = Dispatcher(store, redis_url, arithmetic.ArithmeticPlanner(), **options)
    thread = threading.Thread(target=dispatcher.run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.fixture
def backend(store: LocalStore, redis_url: str) -> LocalBackend:
    return LocalBackend(store, redis_url, arithmetic.ArithmeticPlanner())


def last(backend: LocalBackend, sid: str, seconds: float = 40.0) -> SweepStatus:
    deadline = time.monotonic() + seconds
    for status in backend.watch(sid):
        assert time.monotonic() < deadline, status
    return status


def test_a_sweep_goes_from_study_to_report(
    store: LocalStore, redis_url: str, backend: LocalBackend, start_worker: Start, tmp_path: Path
) -> None:
    start_worker()
    trace = str(tmp_path / "trace")
    jobs: list[Any] = [["add", 1, {"trace": trace}], ["add", 2, 0], ["fail"], ["add", 1, 2], ["crash"]]
    jobs += [["alone", 5, 1, {"phase": 1}], ["analyze", {"after": [0, 1, 2, 3, 4, 5]}]]
    study = arithmetic.study("whole", sweep=jobs)
    with dispatching(store, redis_url):
        sid = backend.submit(study)
        states = [status.state for status in backend.watch(sid)]
        end = backend.status(sid)
        assert states[0] in ("queued", "resolving")
        assert states[-1] == end.state == "done"
        assert end.counts["add"].outcomes == {"ok": 3, "skipped": 1}  # the resolve job is an `add` of the first graph
        assert end.analysis == {"gates_ok": True, "summary": ["5 results"]}
        assert [(failure.label, failure.outcome) for failure in end.failures] == [
            ("fail 0", Outcome.CONVERT_FAILED),
            ("crash 0", Outcome.CRASHED),
        ]
        report = json.loads((backend.fetch_report(sid, tmp_path / "out") / "report.json").read_text())
        assert report == {"0": 1.0, "1": 3.0, "2": None, "4": None, "5": 8.0}
        assert read_done(store, sid, 3) is not None
        assert (read_done(store, sid, 3) or Done(outcome=Outcome.OK)).because == 2
        # Submitted again it is the same sweep, and nothing is done.
        before = read_all_done(store, sid)
        assert backend.submit(study) == sid
        assert last(backend, sid) == end
        assert read_all_done(store, sid) == before
        assert lines(Path(trace)) == ["add 1.0"]
        # Another sweep with the same jobs uses their results.
        other = last(backend, backend.submit(arithmetic.study("other", sweep=jobs)))
        assert other.state == "done"
        assert all(done.reused for i, done in read_all_done(store, other.id).items() if i in (0, 1, 2, 4, 5))
        assert lines(Path(trace)) == ["add 1.0"]
        assert [status.id for status in backend.list_sweeps()] == [other.id, sid]


def test_what_cannot_be_resolved_is_bad_input_and_can_be_tried_again(
    store: LocalStore, redis_url: str, backend: LocalBackend, start_worker: Start, tmp_path: Path
) -> None:
    start_worker()
    trace = tmp_path / "trace"
    study = arithmetic.study("bad", resolve=[["add", 1], ["fail", 0, {"trace": str(trace)}]], sweep=[["add", 1]])
    with dispatching(store, redis_url):
        sid = backend.submit(study)
        end = last(backend, sid)
        assert (end.state, end.bad_input) == ("failed", True)
        assert end.error == "fail 0: The exporter does not know the operator."
        assert read_plan(store, sid) is None
        with pytest.raises(NotFoundError, match="has no report: it is failed"):
            backend.fetch_report(sid, tmp_path / "out")
        backend.submit(study)
        assert last(backend, sid).state == "failed"
        assert len(lines(trace)) == 2


def test_a_plan_that_cannot_be_made_ends_the_sweep(
    store: LocalStore, redis_url: str, start_worker: Start, backend: LocalBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_worker()

    def refuse(self: object, study: object, results: object) -> Plan:
        raise InputError("The model has 10 classes and the labels have 12.")

    monkeypatch.setattr(arithmetic.ArithmeticPlanner, "sweep", refuse)
    with dispatching(store, redis_url):
        end = last(backend, backend.submit(arithmetic.study("unplanned", sweep=[])))
        assert (end.state, end.bad_input, end.error) == (
            "failed",
            True,
            "The model has 10 classes and the labels have 12.",
        )


def test_a_worker_killed_in_the_middle_loses_nothing(
    store: LocalStore, redis_url: str, backend: LocalBackend, start_worker: Start, tmp_path: Path
) -> None:
    first, trace = start_worker(), tmp_path / "trace"
    study = arithmetic.study("killed", sweep=[["add", 3, {"seconds": 2.0, "trace": str(trace)}]])
    with dispatching(store, redis_url):
        sid = backend.submit(study)
        until(lambda: lines(trace))
        began = time.monotonic()
        os.kill(first.pid, signal.SIGKILL)
        start_worker()
        until(lambda: len(lines(trace)) == 2)
        assert time.monotonic() - began < 15
        end = last(backend, sid)
        assert (end.state, end.counts["add"].outcomes) == ("done", {"ok": 2})
        done = read_done(store, sid, 0)
        assert done is not None
        assert done.result_key is not None
        result = read_result(store, done.result_key)
        assert result is not None
        assert result.data == {"total": 3.0}


def test_a_job_that_takes_its_worker_with_it_is_parked(
    store: LocalStore, redis_url: str, backend: LocalBackend, start_worker: Start
) -> None:
    """No worker is there; what is begun and lost three times, by the count in Redis, is given up."""
    study = arithmetic.study("parked", resolve=[], sweep=[["add", 1], ["add", 1, 0], ["analyze", {"after": [0, 1]}]])
    sid = backend.submit(study)
    with dispatching(store, redis_url):
        publisher = Publisher(redis_url)
        until(lambda: publisher.depth("arithmetic") == 1)
        connect(redis_url).hset(names.attempts(sid), "0", "3")
        publisher.purge("arithmetic")
        until(lambda: read_done(store, sid, 0) is not None, 15)
        start_worker()
        end = last(backend, sid)
    assert end.state == "done"
    done = read_all_done(store, sid)
    assert [done[i].outcome for i in range(3)] == [Outcome.CRASHED, Outcome.SKIPPED, Outcome.OK]
    assert "died or was lost 3 times" in end.failures[0].message


def test_a_message_that_is_lost_is_sent_again(
    store: LocalStore, redis_url: str, backend: LocalBackend, start_worker: Start
) -> None:
    study = arithmetic.study("lost", resolve=[], sweep=[["add", value] for value in range(3)])
    with dispatching(store, redis_url):
        sid = backend.submit(study)
        publisher = Publisher(redis_url)
        until(lambda: publisher.depth("arithmetic") == 3)
        publisher.purge("arithmetic")
        start_worker()
        assert last(backend, sid).counts["add"].outcomes == {"ok": 3}


def test_a_message_delivered_twice_is_computed_once(
    store: LocalStore, redis_url: str, backend: LocalBackend, start_worker: Start, tmp_path: Path
) -> None:
    start_worker()
    start_worker()
    trace = tmp_path / "trace"
    study = arithmetic.study("twice", resolve=[], sweep=[["add", 1, {"seconds": 1.0, "trace": str(trace)}]])
    with dispatching(store, redis_url):
        sid = backend.submit(study)
        until(lambda: lines(trace))
        plan = read_plan(store, sid)
        assert plan is not None
        publisher = Publisher(redis_url)
        publisher.send([message_of(sid, plan.jobs[0])] * 3)
        assert last(backend, sid).state == "done"
        until(lambda: publisher.depth("arithmetic") == 0)
    assert lines(trace) == ["add 1.0"]


def test_a_cancelled_sweep_stops_and_can_be_taken_up_again(
    store: LocalStore, redis_url: str, backend: LocalBackend, start_worker: Start, tmp_path: Path
) -> None:
    start_worker()
    trace = tmp_path / "trace"
    jobs = [["add", value, {"seconds": 0.0 if value else 30.0, "trace": str(trace)}] for value in (1, 0, 2, 3)]
    study = arithmetic.study("cancelled", resolve=[], sweep=jobs)
    with dispatching(store, redis_url):
        sid = backend.submit(study)
        until(lambda: len(lines(trace)) == 2)
        backend.cancel(sid)
        assert last(backend, sid, 5).state == "cancelled"
        until(lambda: not connect(redis_url).exists(names.lease(sid, 1)), 6)  # its child is ended too
        time.sleep(0.5)
        assert sorted(read_all_done(store, sid)) == [0]
        assert len(lines(trace)) == 2
        assert backend.submit(study) == sid
        until(lambda: len(lines(trace)) == 3)
        assert lines(trace) == ["add 1.0", "add 0.0", "add 0.0"]
        backend.cancel(sid)
        assert last(backend, sid, 5).state == "cancelled"


def test_a_corrupt_artifact_is_an_outcome_and_the_rest_goes_on(
    store: LocalStore, redis_url: str, backend: LocalBackend, start_worker: Start, tmp_path: Path
) -> None:
    start_worker()
    study = arithmetic.study("corrupt", resolve=[], sweep=[["add", 1], ["read", 0, 0], ["add", 2]])
    sid = backend.submit(study)
    (tmp_path / "x").write_text("1.0")
    ref = store.put_path(tmp_path / "x", "value")
    result = JobResult(kind="add", result_key="swapped", outcome=Outcome.OK, artifacts={"value": ref})
    write_result(store, result)
    write_done(store, sid, 0, Done(outcome=Outcome.OK, result_key="swapped"))
    store.put(blob_key(ref.digest), b"2.0")
    with dispatching(store, redis_url):
        end = last(backend, sid)
    assert (end.state, end.counts["read"].outcomes) == ("done", {"run_failed": 1})
    assert "refused" in end.failures[0].message


def test_a_full_store_ends_the_sweep_with_its_reason(
    store: LocalStore, redis_url: str, backend: LocalBackend, start_worker: Start
) -> None:
    start_worker()
    study = arithmetic.study("full", resolve=[], sweep=[["add", 1]])
    sid = backend.submit(study)
    (store.root / "results").write_text("in the way")
    with dispatching(store, redis_url):
        end = last(backend, sid)
        assert (end.state, end.bad_input) == ("failed", False)
        assert "Could not write results/" in (end.error or "") or "Could not read results/" in (end.error or "")
        (store.root / "results").unlink()
        backend.submit(study)
        assert last(backend, sid).state == "done"


def test_one_dispatcher_leads_and_another_takes_over(
    store: LocalStore, redis_url: str, backend: LocalBackend, start_worker: Start
) -> None:
    start_worker()
    with dispatching(store, redis_url):
        until(lambda: connect(redis_url).exists(names.LEADER))
        leader = connect(redis_url).get(names.LEADER)
        stop = threading.Event()
        second = Dispatcher(store, redis_url, arithmetic.ArithmeticPlanner())
        thread = threading.Thread(target=second.run, args=(stop,))
        thread.start()
        sid = backend.submit(arithmetic.study("led", sweep=[["add", 1]]))
        assert last(backend, sid).state == "done"
        assert connect(redis_url).get(names.LEADER) == leader
    sid = backend.submit(arithmetic.study("led-on", sweep=[["add", 2]]))
    try:
        assert last(backend, sid).state == "done"
    finally:
        stop.set()
        thread.join()


def test_a_sweep_that_is_not_there_is_told(backend: LocalBackend) -> None:
    for ask in (backend.status, backend.cancel, lambda sid: next(backend.watch(sid))):
        with pytest.raises(NotFoundError, match="There is no sweep 'nothing'"):
            ask("nothing")


def test_what_a_person_waits_for_overtakes_and_a_small_sweep_has_its_share(
    store: LocalStore, redis_url: str, backend: LocalBackend, start_worker: Start
) -> None:
    start_worker()
    large = arithmetic.study("large", sweep=[["add", value, {"seconds": 0.1}] for value in range(100)])
    small = arithmetic.study("small", sweep=[["add", 1000 + value, {"seconds": 0.1}] for value in range(4)])
    graph = arithmetic.Graph()
    graph.job("add", 5000)
    with dispatching(store, redis_url, window=16):
        first = backend.submit(large)
        until(lambda: backend.status(first).counts.get("add", KindCounts()).done > 3)
        second = backend.submit(small)
        store.put(
            sweep_key("urgent", "submitted"), Submitted(name="urgent", time=0, urgent=True).model_dump_json().encode()
        )
        store.put(plan_key(resolve_graph("urgent")), Plan(jobs=()).model_dump_json().encode())
        store.put(plan_key("urgent"), graph.plan().model_dump_json().encode())
        store.put(active_key("urgent"), b"")
        connect(redis_url).rpush(names.SETTLED, names.WAKE)
        assert last(backend, "urgent").state == "done"
        assert not read_all_done(store, second), "it came later and was done first"
        assert last(backend, second).state == "done"
        assert len(read_all_done(store, first)) < 60
        backend.cancel(first)
        assert last(backend, first).state == "cancelled"
