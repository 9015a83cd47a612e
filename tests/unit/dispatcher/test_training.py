"""A sweep goes on without a model that could not be trained, and ends where data could not be resolved."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from deltann.dispatcher.run import SweepRun
from deltann.job import Done, Job, JobResult, Plan
from deltann.outcome import Outcome
from deltann.spec.models import Study
from deltann.store import LocalStore
from deltann.store.layout import active_key, resolve_graph, sweep_key, write_done, write_plan, write_result
from deltann.sweep.model import Submitted

STUDY = {
    "schema": "deltann.study/1",
    "name": "s",
    "data": {"source": "d", "part": "test"},
    "models": [{"name": "m", "preprocessing": ["none"], "train": {"network": "lenet5"}}],
}
KINDS = ("resolve_data", "train", "train")


class Noted:
    """A planner that notes which results it was given."""

    def __init__(self) -> None:
        self.given: list[int] = []

    def sweep_id(self, study: Study) -> str:
        return "s"

    def resolve(self, study: Study) -> Plan:
        return Plan(jobs=())

    def sweep(self, study: Study, results: Mapping[int, JobResult]) -> Plan:
        self.given = sorted(results)
        return Plan(jobs=(Job(index=0, kind="analyze", params={}, queue="analyzer", job_id="a"),))


def run(folder: Path, outcomes: tuple[Outcome, ...]) -> tuple[SweepRun, Noted]:
    """A sweep whose first graph has ended so; a crashed job leaves no result."""
    store, planner = LocalStore(folder), Noted()
    jobs = tuple(Job(index=at, kind=kind, params={}, queue="q", job_id=str(at)) for at, kind in enumerate(KINDS))
    store.put(sweep_key("s", "study"), Study.model_validate(STUDY).model_dump_json(by_alias=True).encode())
    store.put(sweep_key("s", "submitted"), Submitted(name="s", time=0.0).model_dump_json().encode())
    store.put(active_key("s"), b"")
    write_plan(store, resolve_graph("s"), Plan(jobs=jobs))
    for at, outcome in enumerate(outcomes):
        key = None if outcome is Outcome.CRASHED else str(at)
        if key is not None:
            write_result(store, JobResult(kind=KINDS[at], result_key=key, outcome=outcome))
        write_done(store, resolve_graph("s"), at, Done(outcome=outcome, result_key=key))
    return SweepRun("s", store, planner), planner


@pytest.mark.parametrize(("failed", "given"), [(Outcome.RUN_FAILED, [0, 1, 2]), (Outcome.CRASHED, [0, 2])])
def test_a_failed_training_is_a_finding(tmp_path: Path, failed: Outcome, given: list[int]) -> None:
    one, planner = run(tmp_path, (Outcome.OK, failed, Outcome.OK))
    assert one.end is None
    assert planner.given == given


def test_data_that_could_not_be_resolved_ends_the_sweep(tmp_path: Path) -> None:
    one, planner = run(tmp_path, (Outcome.RUN_FAILED, Outcome.SKIPPED, Outcome.SKIPPED))
    assert one.end is not None
    assert (one.end.state, one.end.bad_input, planner.given) == ("failed", True, [])
