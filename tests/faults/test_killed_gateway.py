"""The gateway, with the dispatcher in it, is killed while a client submits and while it watches."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from fleet import Fleet, until
from planner import study
from stacks import lines
from tables import Tables, graph, nothing_lost_or_doubled, tables

from deltann.client import GatewayClient
from deltann.sweep import SweepStatus

Measured = Callable[[str, float], None]


def test_the_gateway_is_killed_during_watch(
    new_fleet: Callable[..., Fleet], undisturbed: Tables, measured: Measured
) -> None:
    fleet = new_fleet()
    fleet.redis()
    address = fleet.gateway()
    fleet.worker("one")
    fleet.worker("two")
    fleet.plan("sweep", graph(fleet.trace))
    seen: list[SweepStatus] = []
    with GatewayClient(address) as client:
        sid = client.submit(study("sweep"))
        watching = threading.Thread(target=lambda: seen.extend(client.watch(sid)))
        watching.start()
        until(lambda: len(lines(fleet.trace)) >= 4, 30, "the first jobs")
        fleet.kill("gateway")
        time.sleep(3)
        begun = len(lines(fleet.trace))
        fleet.again("gateway")
        taken = until(lambda: len(lines(fleet.trace)) > begun, 30, "the next job")
        measured("gateway killed during a watch, started again after 3 s: the next job began", taken)
        watching.join(timeout=60)
        assert not watching.is_alive()
        assert seen[-1].state == "done"
        assert seen[-1] == client.status(sid)
    assert tables(fleet, sid) == undisturbed
    nothing_lost_or_doubled(fleet, sid)


@pytest.mark.faults
@pytest.mark.parametrize("delay", [0.0, 0.005, 0.02, 0.1])
def test_the_gateway_is_killed_during_submit(
    new_fleet: Callable[..., Fleet], undisturbed: Tables, delay: float
) -> None:
    """At whatever point of the submission: the client's own call goes on, and there is one sweep."""
    fleet = new_fleet()
    fleet.redis()
    address = fleet.gateway()
    fleet.plan("sweep", graph(fleet.trace))
    with GatewayClient(address) as client:
        assert client.list_sweeps() == []
        kill = threading.Timer(delay, fleet.kill, ["gateway"])
        again = threading.Timer(2.0, fleet.again, ["gateway"])
        kill.start()
        again.start()
        sid = client.submit(study("sweep"))
        again.join()
        fleet.worker("one")
        fleet.worker("two")
        *_, last = client.watch(sid)
        assert last.state == "done"
        assert [status.id for status in client.list_sweeps()] == [sid]
    assert tables(fleet, sid) == undisturbed
    nothing_lost_or_doubled(fleet, sid)
