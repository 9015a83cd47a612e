"""Redis is killed and started again, with its file and without."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from fleet import Fleet, until
from stacks import lines
from tables import Tables, graph, nothing_lost_or_doubled, tables

Measured = Callable[[str, float], None]


@pytest.mark.parametrize("appendonly", [True, pytest.param(False, marks=pytest.mark.faults)])
def test_redis_is_killed_in_the_middle(fleet: Fleet, undisturbed: Tables, measured: Measured, appendonly: bool) -> None:
    fleet.worker("one")
    fleet.worker("two")
    sid = fleet.submit("sweep", graph(fleet.trace))
    until(lambda: len(lines(fleet.trace)) >= 4, 30, "the first jobs")
    fleet.kill("redis")
    time.sleep(3)
    begun = len(lines(fleet.trace))
    fleet.redis(appendonly=appendonly)
    kept = "with its file" if appendonly else "empty"
    taken = until(lambda: len(lines(fleet.trace)) > begun, 30, "the next job")
    measured(f"Redis was away for 3 s and came back {kept}: the next job began", taken)
    assert tables(fleet, sid) == undisturbed
    nothing_lost_or_doubled(fleet, sid, begun_again=2, uncounted=2 if appendonly else 100)


@pytest.mark.faults
def test_redis_is_killed_again_and_again(fleet: Fleet, undisturbed: Tables) -> None:
    fleet.worker("one")
    fleet.worker("two")
    sid = fleet.submit("sweep", graph(fleet.trace, seconds=1.0))
    for _ in range(4):
        time.sleep(3)
        fleet.kill("redis")
        time.sleep(0.5)
        fleet.redis()
    assert tables(fleet, sid, 90) == undisturbed
    nothing_lost_or_doubled(fleet, sid, begun_again=8, uncounted=8)
