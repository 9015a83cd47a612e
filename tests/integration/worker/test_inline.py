"""Jobs in real child processes: every way they can end, and what is kept of it."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import deltann_arithmetic as arithmetic
import psutil
import pytest

from deltann.errors import NotFoundError, StoreError, WorkError
from deltann.job import Done, Job, JobResult
from deltann.outcome import Outcome
from deltann.store import LocalStore
from deltann.store.base import blob_key
from deltann.worker.inline import run_inline


def run(graph: arithmetic.Graph, store: LocalStore, cache: Path, sweep: str = "t") -> list[JobResult | Done]:
    return run_inline(graph.plan(), store, cache, sweep=sweep, services=(arithmetic.NAME,))


def one(store: LocalStore, cache: Path, kind: str, value: float = 0.0, trace: str = "") -> JobResult:
    graph = arithmetic.Graph()
    graph.job(kind, value, trace=trace)
    (end,) = run(graph, store, cache)
    assert isinstance(end, JobResult)
    return end


def log_of(store: LocalStore, result: JobResult) -> str:
    assert result.log is not None
    return store.read(result.log).decode()


def test_values_pass_from_job_to_job_and_are_computed_once(store: LocalStore, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    graph = arithmetic.Graph()
    a = graph.job("add", 1, trace=str(trace))
    b = graph.job("add", 2, a, trace=str(trace))
    graph.job("add", 4, a, b, trace=str(trace))
    first = run(graph, store, tmp_path / "cache")
    assert [end.data for end in first if isinstance(end, JobResult)] == [{"total": 1.0}, {"total": 3.0}, {"total": 8.0}]
    assert "added 8.0" in log_of(store, first[2])  # type: ignore[arg-type]
    again = run(graph, store, tmp_path / "other-cache", sweep="u")
    assert again == first
    assert len(trace.read_text().splitlines()) == 3
    for end in first:
        assert isinstance(end, JobResult)
        assert end.worker is not None
        assert end.started <= end.finished
        assert 0 < end.work_seconds <= end.finished - end.started
    assert list((tmp_path / "cache" / "work").iterdir()) == []


def test_a_signal_is_an_outcome_with_its_name_and_log(store: LocalStore, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    result = one(store, tmp_path / "c", "crash", trace=str(trace))
    assert (result.outcome, result.error and result.error.type) == (Outcome.CRASHED, "SIGSEGV")
    assert "about to crash" in log_of(store, result)
    assert "Segmentation fault" in log_of(store, result)
    assert one(store, tmp_path / "c", "crash", trace=str(trace)) == result
    assert len(trace.read_text().splitlines()) == 1, "a crash of its own doing is a finding, and used again"


def test_a_kill_from_outside_is_not_used_by_another_sweep(store: LocalStore, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    graph = arithmetic.Graph()
    graph.job("crash", signal.SIGKILL, trace=str(trace))
    for sweep in ("one", "one", "two"):
        (end,) = run(graph, store, tmp_path / "c", sweep)
        assert end.outcome is Outcome.CRASHED
    assert len(trace.read_text().splitlines()) == 2


def test_a_hang_is_ended_with_its_grandchildren(store: LocalStore, tmp_path: Path) -> None:
    for apart in (0, 1):
        trace = tmp_path / f"trace{apart}"
        began = time.monotonic()
        result = one(store, tmp_path / "c", "hang", apart, trace=str(trace))
        assert (result.outcome, result.error and result.error.type) == (Outcome.TIMED_OUT, "TimeLimit")
        assert 2 <= time.monotonic() - began < 6
        for pid in map(int, trace.read_text().split()):
            assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_too_much_memory_is_an_outcome(store: LocalStore, tmp_path: Path) -> None:
    result = one(store, tmp_path / "c", "hoard")
    assert result.outcome is Outcome.CRASHED
    assert result.error is not None
    assert "memory limit" in result.error.message


def test_what_a_handler_raises_is_an_outcome(store: LocalStore, tmp_path: Path) -> None:
    failed = one(store, tmp_path / "c", "fail")
    assert failed.outcome is Outcome.CONVERT_FAILED
    assert failed.error is not None
    assert failed.error.model_dump() == {
        "stage": "export",
        "type": "ValueError",
        "message": "The exporter does not know the operator.",
    }
    assert "ValueError: from inside" in log_of(store, failed)
    no_room = one(store, tmp_path / "c", "fail", 1)
    assert (no_room.outcome, no_room.error and no_room.error.type) == (Outcome.RUN_FAILED, "MemoryError")
    left = one(store, tmp_path / "c", "leave")
    assert left.outcome is Outcome.CRASHED
    assert left.error is not None
    assert "exit code 7" in left.error.message


def test_results_hold_no_nan(store: LocalStore, tmp_path: Path) -> None:
    result = one(store, tmp_path / "c", "numbers")
    assert result.data == {"nan": None, "inf": None, "one": 1, "list": [1.5, None]}
    json.dumps(json.loads(store.get(f"results/{result.result_key}") or b""), allow_nan=False)


def test_a_log_is_cut_to_its_end(store: LocalStore, tmp_path: Path) -> None:
    log = log_of(store, one(store, tmp_path / "c", "chatter"))
    assert len(log) == 256 * 1024
    assert "line 039999" in log
    assert log.endswith("from a grandchild\n")


def test_jobs_of_one_affinity_share_a_child_and_others_do_not(store: LocalStore, tmp_path: Path) -> None:
    graph = arithmetic.Graph()
    for value, different in ((1, 0.1), (1, 0.2), (2, 0.3), (1, 0.4)):
        graph.job("warm", value, seconds=different)
    ends = [end.data for end in run(graph, store, tmp_path / "c") if isinstance(end, JobResult)]
    assert [end["runs"] for end in ends] == [1, 2, 1, 3]
    pids = [end["pid"] for end in ends]
    assert pids[0] == pids[1] == pids[3]  # kept while another affinity has its turn
    assert len(set(pids)) == 2
    assert ends[0]["omp"] == "1"


def test_the_child_that_was_used_longest_ago_goes_first(store: LocalStore, tmp_path: Path) -> None:
    graph = arithmetic.Graph()
    for turn, value in enumerate([*range(7), 6, 0]):
        graph.job("warm", value, seconds=0.01 * (turn + 1))
    ends = [end.data for end in run(graph, store, tmp_path / "c") if isinstance(end, JobResult)]
    assert [end["runs"] for end in ends] == [1] * 7 + [2, 1]


def test_what_needs_a_failed_job_is_skipped_and_says_because_of_which(store: LocalStore, tmp_path: Path) -> None:
    graph = arithmetic.Graph()
    bad = graph.job("fail")
    lost = graph.job("add", 1, bad)
    graph.job("add", 1, lost)
    graph.job("analyze", after=(0, 1, 2))
    ends = run(graph, store, tmp_path / "c")
    assert [end.outcome for end in ends] == [Outcome.CONVERT_FAILED, Outcome.SKIPPED, Outcome.SKIPPED, Outcome.OK]
    assert [end.because for end in ends[1:3] if isinstance(end, Done)] == [bad, lost]


def test_a_corrupt_artifact_is_refused_and_that_is_not_used_again(store: LocalStore, tmp_path: Path) -> None:
    ref = store.put_bytes(b"42", "value")
    graph = arithmetic.Graph()
    graph.job("read", sources={"value": ref})
    store.put(blob_key(ref.digest), b"4")
    (end,) = run(graph, store, tmp_path / "c")
    assert isinstance(end, JobResult)
    assert (end.outcome, end.error and end.error.type) == (Outcome.RUN_FAILED, "CorruptArtifactError")
    assert "refused" in log_of(store, end)
    store.put(blob_key(ref.digest), b"42")
    (end,) = run(graph, store, tmp_path / "c", "another")
    assert isinstance(end, JobResult)
    assert (end.outcome, end.data) == (Outcome.OK, {"text": "42"})


def test_an_unknown_kind_and_unfit_parameters_are_told(store: LocalStore, tmp_path: Path) -> None:
    graph = arithmetic.Graph()
    graph.job("dance")
    with pytest.raises(NotFoundError, match="No service has the job kind 'dance'"):
        run(graph, store, tmp_path / "c")
    odd = Job(index=0, kind="add", params={"valeu": 1}, queue="arithmetic", job_id="x")
    graph.jobs = [odd]
    with pytest.raises(WorkError, match=r"cannot run add \(job 0 of .*another version of DeltaNN\. Install"):
        run(graph, store, tmp_path / "c")
    assert list(store.list("results/")) == [], "that is no finding"


def test_a_store_that_refuses_in_the_child_is_no_finding(store: LocalStore, tmp_path: Path) -> None:
    graph = arithmetic.Graph()
    graph.job("add", 1)
    (store.root / "blobs").write_text("in the way of the folder of this name")
    with pytest.raises(StoreError, match=r"Could not (write|look for) blobs"):
        run(graph, store, tmp_path / "c")
    assert list(store.list("results/")) == []
