"""Workers that are killed: at each stage of their work, all of a host at once, by an operator and by the job itself."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest
from fleet import Fleet, until
from role import STAGES
from stacks import lines
from tables import Tables, graph, nothing_lost_or_doubled, tables, wait

from deltann.queue import names
from deltann.store import open_store
from deltann.store.layout import read_done, read_result, resolve_graph

AGAIN_S = 15
Measured = Callable[[str, float], None]


@pytest.mark.faults
@pytest.mark.parametrize("stage", STAGES)
def test_a_worker_killed_at_any_stage_loses_nothing(
    fleet: Fleet, undisturbed: Tables, measured: Measured, stage: str
) -> None:
    mark = fleet.folder / "mark"
    mortal = fleet.worker("mortal", DELTANN_DIE_BEFORE=stage, DELTANN_DIE_MARK=str(mark))
    sid = fleet.submit("sweep", graph(fleet.trace))
    until(lambda: mortal.poll() is not None, 20, "the worker's death")
    until(lambda: not fleet.running("mortal"), 5, "the end of its processes")
    fleet.worker("one")
    fleet.worker("two")
    assert tables(fleet, sid) == undisturbed
    nothing_lost_or_doubled(fleet, sid, begun_again=1, uncounted=1)
    done = read_done(open_store(fleet.store_url), resolve_graph(sid), 0)
    assert done is not None
    if stage != "before the report":  # there the job was settled, and only its report is lost
        again = done.finished - mark.stat().st_mtime
        assert again < AGAIN_S
        measured(f"worker killed {stage}: its job settled by another", again)


def test_a_worker_killed_during_a_job_has_it_run_again_within_15_s(fleet: Fleet, measured: Measured) -> None:
    """Behind a queue full of other jobs, too."""
    fleet.worker("mortal")
    more = {"trace": str(fleet.trace), "seconds": 1.0}
    sid = fleet.submit("one", [["step", float(value), more] for value in range(20)])
    until(lambda: lines(fleet.trace), 20, "the first job")
    fleet.worker("other")
    first = lines(fleet.trace)[0]
    fleet.kill("mortal")
    taken = until(lambda: lines(fleet.trace).count(first) == 2, AGAIN_S)
    assert len(lines(fleet.trace)) < 16, "it waited behind the others"
    measured("worker killed during a job: another began it", taken)
    assert wait(fleet, sid, 90).state == "done"
    nothing_lost_or_doubled(fleet, sid, begun_again=1, uncounted=1)


@pytest.mark.faults
def test_all_workers_of_a_host_are_killed_at_once(fleet: Fleet, undisturbed: Tables, measured: Measured) -> None:
    hosts = ["one", "two", "three"]
    for name in hosts:
        fleet.worker(name)
    sid = fleet.submit("sweep", graph(fleet.trace, seconds=0.6))
    until(lambda: len(lines(fleet.trace)) >= 4, 30, "the first jobs")
    for name in hosts:
        fleet.processes[name].send_signal(signal.SIGKILL)
    until(lambda: not any(map(fleet.running, hosts)), 5, "the end of their processes")
    begun = len(lines(fleet.trace))
    for name in hosts[:2]:
        fleet.again(name)
    measured("all workers killed: the first job began", until(lambda: len(lines(fleet.trace)) > begun, AGAIN_S))
    assert tables(fleet, sid) == undisturbed
    nothing_lost_or_doubled(fleet, sid, begun_again=3, uncounted=3)


@pytest.mark.faults
def test_a_job_that_kills_every_worker_is_parked_with_its_log_and_the_rest_goes_on(
    fleet: Fleet, undisturbed: Tables, measured: Measured
) -> None:
    names_ = ["one", "two"]
    for name in names_:
        fleet.worker(name)
    size = len(undisturbed.jobs) - 1
    more = {"trace": str(fleet.trace)}
    sid = fleet.submit("sweep", graph(fleet.trace, ["poison", 13.0, more], ["step", 14.0, size, more]))
    died = 0
    store = open_store(fleet.store_url)

    def parked() -> bool:
        nonlocal died
        for name in names_:
            if fleet.processes[name].poll() is not None:
                died += 1
                fleet.again(name)  # as a supervisor does
        return read_done(store, sid, size) is not None

    measured("poison job: parked after three workers died of it", until(parked, 90))
    found = tables(fleet, sid)
    assert died == 3
    assert {i: job for i, job in found.jobs.items() if i < size} == {
        i: job for i, job in undisturbed.jobs.items() if i < size
    }
    assert found.jobs[size][0] == "crashed"
    assert found.jobs[size + 1][:2] == ("skipped", size)
    nothing_lost_or_doubled(fleet, sid, begun_again=2, uncounted=1)
    done = read_done(store, sid, size)
    assert done is not None
    result = read_result(store, done.result_key or "")
    assert result is not None
    assert result.error is not None
    assert "died or was lost 3 times" in result.error.message
    assert result.log is not None
    assert "this job kills its worker" in store.read(result.log).decode()


@pytest.mark.faults
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGQUIT])
def test_workers_that_an_operator_restarts_again_and_again_park_no_job(
    fleet: Fleet, measured: Measured, how: signal.Signals
) -> None:
    """Told to end, and then killed for taking too long: that says nothing about the job in hand."""
    sid = fleet.submit("one", [["step", 1.0, {"trace": str(fleet.trace), "seconds": 5.0}]])
    for time in range(1, 5):
        worker = fleet.worker("one")
        until(lambda time=time: len(lines(fleet.trace)) == time, 30, "the job")
        worker.send_signal(how)
        if how == signal.SIGTERM:
            until(lambda: fleet.client.hget(names.attempts(sid), "0") == "0", 3, "the pardon")
            worker.send_signal(signal.SIGKILL)
        worker.wait(timeout=10)
    fleet.worker("one")
    assert wait(fleet, sid).counts["step"].outcomes == {"ok": 1}
    nothing_lost_or_doubled(fleet, sid, begun_again=4)
