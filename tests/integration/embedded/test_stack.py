"""The embedded stack, brought up and taken down in every way, by really killing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import deltann_arithmetic as arithmetic
import psutil
import pytest
from stacks import SUPPORT, lines, until

from deltann.dispatcher.dispatcher import LOOK_S
from deltann.embedded import EmbeddedStack, WorkerSpec, running_stack, stop_stack
from deltann.errors import StackError
from deltann.store import LocalStore
from deltann.store.layout import read_all_done
from deltann.sweep.environment import environment
from deltann.worker.children import Children

WORKERS = (WorkerSpec(service=arithmetic.NAME),)
PARENT = f"""
import sys
sys.path.insert(0, {SUPPORT!r})
import deltann_arithmetic as arithmetic
from pathlib import Path
from deltann.embedded import EmbeddedStack, WorkerSpec
from deltann.spec.models import Study

workers = [WorkerSpec(service=arithmetic.NAME)]
with EmbeddedStack(Path(sys.argv[1]), workers, planner=arithmetic.ArithmeticPlanner()) as stack:
    sid = stack.backend.submit(Study.model_validate_json(sys.argv[2]))
    print("up", *(program.pid for program in stack.programs), flush=True)
    for status in stack.backend.watch(sid):
        print(status.state, flush=True)
"""


def stack(home: Path) -> EmbeddedStack:
    return EmbeddedStack(home, WORKERS, planner=arithmetic.ArithmeticPlanner())


def start_parent(home: Path, study: arithmetic.Study) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PARENT, str(home), study.model_dump_json(by_alias=True)],
        stdout=subprocess.PIPE,
        text=True,
    )


def pids_of(parent: subprocess.Popen[str]) -> set[int]:
    """Everything that the parent has started, by process id."""
    assert parent.stdout is not None
    line = parent.stdout.readline()
    assert line.startswith("up "), line
    return {process.pid for process in psutil.Process(parent.pid).children(recursive=True)}


def running(pids: set[int]) -> set[int]:
    alive = set()
    for pid in pids:
        try:
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                alive.add(pid)
        except psutil.NoSuchProcess:
            continue
    return alive


def test_it_comes_up_works_and_goes_down_without_a_trace(tmp_path: Path) -> None:
    others = {process.pid for process in psutil.Process().children(recursive=True)}
    began = time.monotonic()
    with stack(tmp_path / "home") as up:
        up.wait_ready()
        assert time.monotonic() - began < 10
        pids = {process.pid for process in psutil.Process().children(recursive=True)} - others
        info = running_stack(tmp_path / "home")
        assert info is not None
        assert (info.pid, info.redis_url) == (os.getpid(), up.redis_url)
        with pytest.raises(StackError, match="Another embedded stack works in"):
            stack(tmp_path / "home").__enter__()
        sid = up.backend.submit(arithmetic.study("up", sweep=[["add", 1], ["add", 2, 0]]))
        *_, end = up.backend.watch(sid)
        assert end.state == "done"
    assert len(pids) >= 4  # Redis, a worker, and a reaper of each
    assert running(pids) == set()
    assert running_stack(tmp_path / "home") is None
    assert list((tmp_path / "run").glob("stack-*")) == []
    assert not stop_stack(tmp_path / "home")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_everything_goes_down_with_the_parent(tmp_path: Path, number: signal.Signals) -> None:
    trace = tmp_path / "trace"
    study = arithmetic.study("down", resolve=[], sweep=[["hang", 0, {"trace": str(trace)}]])
    parent = start_parent(tmp_path / "home", study)
    pids = pids_of(parent)
    until(lambda: lines(trace))
    pids |= set(map(int, trace.read_text().split()))  # the job's own process, and what that has started
    assert len(running(pids)) == len(pids)
    began = time.monotonic()
    parent.send_signal(number)
    parent.wait(timeout=15)
    until(lambda: not running(pids), 5)
    assert time.monotonic() - began < 10
    assert parent.stdout is not None
    parent.stdout.close()
    assert parent.returncode in (-number, 128 + number)


def test_stopped_from_another_command(tmp_path: Path) -> None:
    study = arithmetic.study("stopped", resolve=[], sweep=[["add", 0, {"seconds": 30}]])
    parent = start_parent(tmp_path / "home", study)
    pids = pids_of(parent)
    until(lambda: running_stack(tmp_path / "home"))
    # Its parent is this process, which has to take note of its end for it to be gone.
    waiter = threading.Thread(target=parent.wait)
    waiter.start()
    assert stop_stack(tmp_path / "home")
    waiter.join()
    assert running(pids) == set()
    assert running_stack(tmp_path / "home") is None


@pytest.mark.parametrize("after", [0, 2, 5])
def test_killed_and_run_again_it_ends_the_same_and_does_nothing_twice(tmp_path: Path, after: int) -> None:
    trace = tmp_path / "trace"
    jobs: list[list[object]] = [["add", value, {"seconds": 0.05, "trace": str(trace)}] for value in range(5)]
    jobs += [["add", 100 + value, value, value + 1, {"trace": str(trace)}] for value in range(4)]
    jobs.append(["analyze", {"after": list(range(9))}])
    study = arithmetic.study("killed", sweep=jobs)
    parent = start_parent(tmp_path / "home", study)
    pids = pids_of(parent)
    store = LocalStore(tmp_path / "home" / "store")
    sid = arithmetic.ArithmeticPlanner().sweep_id(study.model_copy(update={"environment": environment()}))
    until(lambda: len(read_all_done(store, sid)) >= after)
    parent.kill()
    parent.wait()
    assert parent.stdout is not None
    parent.stdout.close()
    until(lambda: not running(pids))
    before = read_all_done(store, sid)
    computed = len(lines(trace))
    with stack(tmp_path / "home") as up:
        *_, end = up.backend.watch(up.backend.submit(study))
        assert end.state == "done"
        report = up.backend.fetch_report(sid, tmp_path / "out") / "report.json"
        table = report.read_text()
    done = read_all_done(store, sid)
    assert len(done) == 10
    assert {index: done[index] for index in before} == before
    # At most the one job that was cut off is run a second time.
    assert len(lines(trace)) - len(set(lines(trace))) <= 1
    assert computed <= len(lines(trace)) <= 10
    expected = {**{i: float(i) for i in range(5)}, **{5 + i: 101.0 + 3 * i for i in range(4)}}
    assert {int(index): total for index, total in json.loads(table).items()} == expected


def test_what_was_left_unfinished_waits_until_it_is_submitted_again(tmp_path: Path) -> None:
    study = arithmetic.study("left", resolve=[], sweep=[["add", 1, {"seconds": 30}]])
    with stack(tmp_path / "home") as up:
        left = up.backend.submit(study)
        until(lambda: up.backend.status(left).state == "running")
    planner = arithmetic.ArithmeticPlanner()
    with EmbeddedStack(tmp_path / "home", WORKERS, planner=planner, resumes=False) as up:
        *_, end = up.backend.watch(up.backend.submit(arithmetic.study("another", sweep=[["add", 1], ["add", 2, 0]])))
        assert end.state == "done"
        time.sleep(2 * LOOK_S)
        assert up.backend.status(left).counts["add"].running == 0
        assert up.backend.submit(study) == left
        until(lambda: up.backend.status(left).counts["add"].running == 1)


def test_redis_killed_in_the_middle_comes_back_and_the_sweep_goes_on(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    jobs = [["add", value, {"seconds": 0.1, "trace": str(trace)}] for value in range(10)]
    with stack(tmp_path / "home") as up:
        sid = up.backend.submit(arithmetic.study("redis", resolve=[], sweep=jobs))
        until(lambda: len(lines(trace)) > 3)
        redis = up.programs[0]
        killed = redis.pid
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        until(lambda: redis.pid not in (None, killed))
        *_, end = up.backend.watch(sid)
        assert (end.state, end.counts["add"].outcomes) == ("done", {"ok": 10})
    assert len(lines(trace)) <= 11


def test_a_worker_that_cannot_start_is_told_with_its_log(tmp_path: Path) -> None:
    broken = EmbeddedStack(
        tmp_path / "home", [WorkerSpec(service="no_such_module:SERVICE")], planner=arithmetic.ArithmeticPlanner()
    )
    with broken as up:
        with pytest.raises(StackError, match=r"died 4 times.*No module named 'no_such_module'|No module named"):
            up.wait_ready()
        sid = up.backend.submit(arithmetic.study("never", sweep=[["add", 1]]))
        with pytest.raises(StackError, match="of the embedded stack died"):
            up.backend.status(sid)


def test_a_warm_child_is_let_go_when_nothing_comes(tmp_path: Path) -> None:
    graph = arithmetic.Graph()
    graph.job("warm", 1)
    job = graph.jobs[0]
    with Children(arithmetic.NAME, LocalStore(tmp_path / "s").url, tmp_path / "c") as children:
        children.run("s", job, {}, affinity="a", threads=1, seconds=20, memory_mb=1000)
        pid = children.pid
        assert pid is not None
        children.rest(60.0)
        assert children.pid == pid
        children.rest(0.0)
        assert children.pid is None
        assert running({pid}) == set()


def test_under_other_versions_a_study_is_looked_at_again_and_computes_only_what_they_touch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "trace"
    study = arithmetic.study("upgraded", sweep=[["add", 1, {"trace": str(trace)}], ["analyze", {"after": [0]}]])
    with stack(tmp_path / "home") as up:
        first = up.backend.submit(study)
        *_, end = up.backend.watch(first)
        assert up.backend.submit(study) == first
        monkeypatch.setattr("deltann.sweep.backend.environment", lambda: "upgraded")
        second = up.backend.submit(study)
        *_, again = up.backend.watch(second)
    assert (end.state, again.state) == ("done", "done")
    assert second != first
    assert len(lines(trace)) == 1
