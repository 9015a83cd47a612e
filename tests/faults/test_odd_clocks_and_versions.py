"""Clocks that jump, and workers of another version.

No clock of this machine is touched. A jump of Redis' host is what it does to leases, which Redis keeps as points in
time: they stand for an hour (set back) or are gone (set ahead), so the tests change their expiry. A jump on a worker's
host is a worker whose ``time.time`` is ahead or behind.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import deltann_arithmetic
import deltann_faulty
import pytest
from fleet import Fleet, until
from stacks import lines
from tables import Tables, graph, nothing_lost_or_doubled, tables, wait

from deltann.fleet.view import observe
from deltann.queue import names
from deltann.store import open_store
from deltann.store.layout import read_all_done, read_results

HOUR_MS = 3_600_000
Measured = Callable[[str, float], None]


@contextmanager
def jumping(fleet: Fleet, milliseconds: int) -> Iterator[None]:
    """Within this, Redis' clock jumps every half second, as far as leases know."""
    stop = threading.Event()

    def jump() -> None:
        client = fleet.client
        while not stop.wait(0.5):
            for key in (*client.scan_iter("deltann:lease:*"), names.LEADER):
                left = client.pttl(key)
                if left > 0:
                    client.pexpire(key, left + milliseconds)

    thread = threading.Thread(target=jump)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.faults
@pytest.mark.parametrize("milliseconds", [-HOUR_MS, HOUR_MS], ids=["ahead", "back"])
def test_the_clock_of_redis_jumps_again_and_again(fleet: Fleet, undisturbed: Tables, milliseconds: int) -> None:
    fleet.worker("one")
    fleet.worker("two")
    with jumping(fleet, milliseconds):
        sid = fleet.submit("sweep", graph(fleet.trace, seconds=1.0))
        assert tables(fleet, sid, 120) == undisturbed
    nothing_lost_or_doubled(fleet, sid, begun_again=20)


@pytest.mark.faults
def test_a_dead_workers_lease_that_a_clock_set_back_prolongs_is_cut(fleet: Fleet, measured: Measured) -> None:
    fleet.worker("mortal")
    sid = fleet.submit("one", [["step", 1.0, {"trace": str(fleet.trace), "seconds": 20.0}]])
    until(lambda: lines(fleet.trace), 20, "the job")
    fleet.kill("mortal")
    fleet.client.pexpire(names.lease(sid, 0), HOUR_MS)
    fleet.worker("other")
    taken = until(lambda: len(lines(fleet.trace)) == 2, 20, "the job, a second time")
    measured("worker killed and Redis' clock set back by an hour: its job began", taken)


@pytest.mark.faults
@pytest.mark.parametrize("seconds", [86_400, -86_400])
def test_a_workers_clock_is_a_day_off(fleet: Fleet, undisturbed: Tables, seconds: int) -> None:
    fleet.worker("off", DELTANN_CLOCK_AHEAD=str(seconds))
    fleet.worker("right")
    sid = fleet.submit("sweep", graph(fleet.trace))
    assert tables(fleet, sid) == undisturbed
    nothing_lost_or_doubled(fleet, sid)


@pytest.mark.faults
def test_workers_of_two_versions_of_the_code_give_one_table(fleet: Fleet, undisturbed: Tables) -> None:
    """The digest of the code is part of a result's key, so neither takes what the other's code made for its own."""
    other = fleet.folder / "other"
    other.mkdir()
    for module in (deltann_arithmetic, deltann_faulty):
        shutil.copy(module.__file__, other)
    with (other / "deltann_faulty.py").open("a") as code:
        code.write("# another version\n")
    fleet.worker("old", PYTHONPATH=str(other))
    fleet.worker("new")
    sid = fleet.submit("sweep", graph(fleet.trace))
    assert tables(fleet, sid) == undisturbed
    nothing_lost_or_doubled(fleet, sid)
    store = open_store(fleet.store_url)
    results = read_results(store, read_all_done(store, sid))
    codes = {result.toolchain.get("deltann-faulty") for result in results.values() if result.kind == "step"}
    assert len(codes) == 2, "both have worked"


def old_deltann(folder: Path) -> str:
    """A package path on which messages are of another schema: their first field has another name."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import deltann.job as job\nclass JobMessage(job.JobMessage):\n    graph: str\njob.JobMessage = JobMessage\n"
    )
    return str(folder)


@pytest.mark.faults
def test_a_worker_that_cannot_read_messages_ends_nothing_where_others_can(fleet: Fleet, undisturbed: Tables) -> None:
    fleet.worker("old", PYTHONPATH=old_deltann(fleet.folder / "old"))
    fleet.worker("new")
    until(lambda: len(observe(fleet.client).workers) == 2, 40, "both workers")
    sid = fleet.submit("sweep", graph(fleet.trace, seconds=0.6))
    assert tables(fleet, sid, 120) == undisturbed
    nothing_lost_or_doubled(fleet, sid)
    assert (
        "of another version of DeltaNN" in (fleet.folder / "old.log").read_text()
        or "a message cannot be read" in (fleet.folder / "old.log").read_text()
    )


@pytest.mark.faults
def test_where_no_worker_can_read_messages_the_sweep_ends_and_says_why(fleet: Fleet) -> None:
    fleet.worker("old", PYTHONPATH=old_deltann(fleet.folder / "old"))
    sid = fleet.submit("sweep", graph(fleet.trace))
    end = wait(fleet, sid)
    assert end.state == "failed"
    assert "Install the same version everywhere and submit the sweep again" in (end.error or "")
    assert json.loads(end.model_dump_json())["bad_input"] is False
