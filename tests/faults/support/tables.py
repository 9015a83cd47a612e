"""What a sweep gave, and whether it is what an undisturbed one gives: nothing lost, nothing counted twice."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fleet import Fleet, until

from deltann.errors import DeltannError
from deltann.fleet import stats
from deltann.store import open_store
from deltann.store.layout import read_all_done, read_plan, read_results, resolve_graph
from deltann.sweep import SweepStatus


@dataclass(frozen=True)
class Tables:
    """A sweep's end: its report, and by job how it ended, why it was skipped and what it gave."""

    state: str
    report: dict[str, Any]
    jobs: dict[int, tuple[str, int | None, Any]]


def graph(trace: Path, *extra: list[Any], width: int = 8, seconds: float = 0.3) -> list[Any]:
    """Jobs of every sort: chains of steps, failures with what depends on them, timings, an analysis.

    ``extra`` jobs come after them, before the analysis.
    """
    more = {"trace": str(trace), "seconds": seconds}
    jobs: list[Any] = [["step", float(2**place), more] for place in range(width)]
    jobs += [["step", float(2**place) / 1024, place, more] for place in range(width)]
    failed = len(jobs)
    jobs += [["fail", 0.0], ["crash", 0.0], ["step", 5.0, failed, more], ["step", 7.0, width, width + 1, more]]
    jobs += [["alone", 9.0, 0, more | {"phase": 1}], *extra]
    return [*jobs, ["analyze", {"after": list(range(len(jobs)))}]]


def wait(fleet: Fleet, sid: str, seconds: float = 60.0) -> SweepStatus:
    """The end of a sweep. Its status is asked anew where store or queue are away."""
    deadline = time.monotonic() + seconds
    while True:
        status: SweepStatus | DeltannError
        try:
            status = fleet.backend.status(sid)
            if status.ended:
                return status
        except DeltannError as error:
            status = error
        assert time.monotonic() < deadline, f"{sid} has not ended within {seconds:g} s: {status}"
        time.sleep(0.1)


def tables(fleet: Fleet, sid: str, seconds: float = 60.0) -> Tables:
    """What a sweep gives, once it has ended."""
    end = wait(fleet, sid, seconds)
    assert end.state == "done", end
    store = open_store(fleet.store_url)
    done = read_all_done(store, sid)
    results = read_results(store, done)
    with tempfile.TemporaryDirectory() as folder:
        report = json.loads((fleet.backend.fetch_report(sid, Path(folder)) / "report.json").read_text())
    jobs = {i: (str(one.outcome), one.because, results[i].data if i in results else None) for i, one in done.items()}
    for index, (outcome, because, data) in jobs.items():
        if data is not None and "pid" in data:
            jobs[index] = (outcome, because, {key: value for key, value in data.items() if key != "pid"})
    return Tables(end.state, report, jobs)


def nothing_lost_or_doubled(fleet: Fleet, sid: str, *, begun_again: int = 0, uncounted: int = 0) -> None:
    """Every job has one record; what ran was run once, but for so many that were begun again; counters never exceed.

    Args:
        fleet: that ran it.
        sid: of the sweep.
        begun_again: jobs at most whose workers were lost, so that they ran once more.
        uncounted: jobs at most whose counting was lost.
    """
    store = open_store(fleet.store_url)
    plan, done = read_plan(store, sid), read_all_done(store, sid)
    assert plan is not None
    assert sorted(done) == list(range(len(plan.jobs))), f"records of {sorted(done)}"
    ran = Counter(fleet.trace.read_text().splitlines())
    due = {f"{job.kind} {job.params['value']}" for i, job in enumerate(plan.jobs) if job.params.get("trace")
           and done[i].outcome != "skipped"}  # fmt: skip
    assert set(ran) == due, f"ran {ran}, due {due}"
    assert ran.total() - len(due) <= begun_again, f"ran again: {ran}"
    settled = sum(1 for one in done.values() if one.outcome != "skipped") + len(
        read_all_done(store, resolve_graph(sid))
    )

    def counted() -> int:
        return sum(count.jobs for count in stats.read(fleet.client))

    # A worker counts after it has reported, and one that was cut off when it is back.
    until(lambda: counted() >= settled - uncounted, 30, f"the counting of {settled - uncounted} of {settled} jobs")
    assert counted() <= settled
