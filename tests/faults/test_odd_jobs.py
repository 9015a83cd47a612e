"""Jobs that are slow, hang, are sent twice, or leave something behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from fleet import Fleet, until
from stacks import lines
from tables import Tables, graph, nothing_lost_or_doubled, tables, wait

from deltann.dispatcher.sending import message_of
from deltann.queue import Publisher
from deltann.store import open_store
from deltann.store.layout import read_plan

Measured = Callable[[str, float], None]


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.faults
def test_a_job_longer_than_a_lease_runs_once_and_a_hanging_one_is_ended(
    fleet: Fleet, undisturbed: Tables, measured: Measured
) -> None:
    fleet.worker("one")
    fleet.worker("two")
    size = len(undisturbed.jobs) - 1
    hanging = fleet.folder / "hanging"
    sid = fleet.submit(
        "sweep",
        graph(
            fleet.trace,
            ["step", 50.0, {"trace": str(fleet.trace), "seconds": 13.0}],
            ["hang", 1.0, {"trace": str(hanging)}],
        ),
    )
    until(hanging.exists, 60, "the hanging job")
    pids = [int(pid) for pid in hanging.read_text().split()]
    measured("a job that hangs, with a limit of 2 s: it and its processes were gone", until(
        lambda: all(map(gone, pids)), 10
    ))  # fmt: skip
    hanging.unlink()
    found = tables(fleet, sid)
    assert found.jobs[size][0] == "ok"
    assert found.jobs[size + 1][0] == "timed_out"
    assert {i: found.jobs[i] for i in range(size)} == {i: undisturbed.jobs[i] for i in range(size)}
    assert lines(fleet.trace).count("step 50.0") == 1


def test_messages_that_are_delivered_twice_are_computed_and_counted_once(fleet: Fleet, undisturbed: Tables) -> None:
    """Each is sent three more times while it waits, runs, or is done already."""
    sid = fleet.submit("sweep", graph(fleet.trace))
    for name in ("one", "two", "three"):
        fleet.worker(name)
    store = open_store(fleet.store_url)
    until(lambda: read_plan(store, sid) is not None, 30, "the plan")
    plan = read_plan(store, sid)
    assert plan is not None
    publisher = Publisher(fleet.redis_url)
    for _ in range(3):
        publisher.send(message_of(sid, job) for job in plan.jobs if not job.needs and not job.after)
        time.sleep(1)
    publisher.close()
    assert tables(fleet, sid) == undisturbed
    nothing_lost_or_doubled(fleet, sid)


def test_what_a_successful_job_leaves_behind_does_not_live_on_in_its_warm_child(fleet: Fleet) -> None:
    fleet.worker("one")
    left = fleet.folder / "left"
    sid = fleet.submit("one", [["litter", 1.0, {"trace": str(left)}]])
    assert wait(fleet, sid).counts["litter"].outcomes == {"ok": 1}
    name, *pids, child = left.read_text().split()
    assert all(gone(int(pid)) for pid in pids)
    assert not gone(int(child)), "the child itself stays warm"
    assert Path(name).is_relative_to(fleet.cache / "work")
    fleet.kill("one")
    until(lambda: gone(int(child)), 5)
    assert Path(name).exists(), "a killed worker cannot clean up"
    fleet.again("one")
    until(lambda: not Path(name).exists(), 10, "the next worker's cleaning up")
