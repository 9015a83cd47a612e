"""What the store alone tells of a sweep."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltann.dispatcher.counts import KindCounts, merge_counts
from deltann.errors import NotFoundError
from deltann.job import Done, Job, JobError, JobResult, Plan
from deltann.outcome import Outcome
from deltann.store import LocalStore
from deltann.store.layout import plan_key, resolve_graph, sweep_key, write_done, write_result
from deltann.sweep.model import Submitted, SweepStatus
from deltann.sweep.observe import analysis_of, failure_of, read_status


def job(index: int, kind: str, label: str = "") -> Job:
    return Job(index=index, kind=kind, params={}, queue="q", job_id=str(index), label=label)


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    store = LocalStore(tmp_path)
    store.put(sweep_key("s", "submitted"), Submitted(name="study", time=5.0).model_dump_json().encode())
    store.put(plan_key(resolve_graph("s")), Plan(jobs=(job(0, "resolve_model"),)).model_dump_json().encode())
    return store


def test_a_sweep_goes_from_queued_to_its_end(store: LocalStore) -> None:
    status = read_status(store, "s")
    assert (status.state, status.name, status.started, status.ended) == ("queued", "study", 5.0, False)
    assert status.counts == {"resolve_model": KindCounts(waiting=1)}
    write_done(store, resolve_graph("s"), 0, Done(outcome=Outcome.OK))
    assert read_status(store, "s").state == "resolving"
    store.put(plan_key("s"), Plan(jobs=(job(0, "convert"), job(1, "convert"))).model_dump_json().encode())
    write_done(store, "s", 1, Done(outcome=Outcome.CONVERT_FAILED))
    status = read_status(store, "s")
    assert status.state == "running"
    assert status.counts["convert"] == KindCounts(waiting=1, done=1, outcomes={"convert_failed": 1})
    # As many as are counted: who has seen the count takes the failures for seen.
    assert [(one.label, one.outcome) for one in status.failures] == [("convert 1", Outcome.CONVERT_FAILED)]
    store.put(sweep_key("s", "cancelled"), b"{}")
    assert read_status(store, "s").ended
    end = SweepStatus(id="s", name="study", state="done", started=5.0, finished=9.0)
    store.put(sweep_key("s", "ended"), end.model_dump_json().encode())
    assert read_status(store, "s") == end


def test_a_sweep_that_is_not_there_is_told(store: LocalStore) -> None:
    with pytest.raises(NotFoundError, match="There is no sweep 't'"):
        read_status(store, "t")


def test_a_failure_reads_as_a_person_needs_it(store: LocalStore) -> None:
    error = JobError(stage="export", type="ValueError", message="No such operator.")
    write_result(store, JobResult(kind="convert", result_key="k", outcome=Outcome.CONVERT_FAILED, error=error))
    named = failure_of(store, job(0, "convert", "keras to onnx"), Outcome.CONVERT_FAILED, "k")
    assert (named.label, named.message) == ("keras to onnx", "No such operator.")
    assert failure_of(store, job(3, "convert"), Outcome.CRASHED, None).label == "convert 3"


def test_the_analysis_is_found_once_it_has_ended(store: LocalStore) -> None:
    jobs = [job(0, "convert"), job(1, "analyze")]
    assert analysis_of(store, jobs, {0: Done(outcome=Outcome.OK)}) is None
    result = write_result(store, JobResult(kind="analyze", result_key="a", outcome=Outcome.OK))
    assert analysis_of(store, jobs, {1: Done(outcome=Outcome.OK, result_key="a")}) == result


def test_counts_of_two_graphs_are_one_table() -> None:
    first = {"a": KindCounts(waiting=1, done=2, outcomes={"ok": 2})}
    second = {"a": KindCounts(running=1, done=1, outcomes={"ok": 1}), "b": KindCounts(queued=3)}
    assert merge_counts(first, second) == {
        "a": KindCounts(waiting=1, running=1, done=3, outcomes={"ok": 3}),
        "b": KindCounts(queued=3),
    }
