"""What child processes must not do: answer one job with another's reply, take trouble for a finding, stay behind."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import deltann_arithmetic as arithmetic
import psutil
import pytest
from disks import MIB, fill
from stacks import lines, until

from deltann.errors import StoreError
from deltann.outcome import Outcome
from deltann.store import LocalStore
from deltann.store.base import blob_key
from deltann.worker.children import Children
from deltann.worker.inline import run_inline
from deltann.worker.process import Ended
from deltann.worker.wire import Reply


@pytest.fixture
def children(store: LocalStore, tmp_path: Path) -> Iterator[Children]:
    with Children(arithmetic.NAME, store.url, tmp_path / "cache") as made:
        yield made


def run(
    children: Children,
    kind: str,
    value: float = 0.0,
    *,
    affinity: str = "",
    limit: float = 30.0,
    given_up: Callable[[], bool] = lambda: False,
    sources: int = 0,
    **more: object,
) -> Reply | Ended | None:
    graph = arithmetic.Graph()
    refs = {
        f"source {number}": arithmetic.ArtifactRef(digest="0" * 64, size=1, name="x" * 200) for number in range(sources)
    }
    graph.job(kind, value, sources=refs, **more)  # type: ignore[arg-type]
    end, _ = children.run(
        "s", graph.jobs[0], {}, affinity=affinity, threads=1, seconds=limit, memory_mb=4096, given_up=given_up
    )
    return end


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("error", [StoreError("The store is gone."), OSError(5, "Input/output error")])
def test_a_child_left_in_the_middle_of_a_job_does_not_answer_the_next_one(children: Children, error: Exception) -> None:
    first = run(children, "slow", 1, affinity="slow")
    assert isinstance(first, Reply)

    def ask() -> bool:
        raise error

    with pytest.raises(StoreError, match=r"The store is gone|Input/output error"):
        run(children, "slow", 2, affinity="slow", seconds=1.0, given_up=ask)
    third = run(children, "slow", 3, affinity="slow")
    assert isinstance(third, Reply)
    assert third.data["total"] == 3.0
    assert third.data["pid"] != first.data["pid"]
    assert gone(int(str(first.data["pid"])))


def test_a_child_that_does_not_take_its_request_is_ended_at_the_limit(
    children: Children, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexec sleep 600\n")
    python.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(python))
    began = time.monotonic()
    end = run(children, "add", sources=2000, limit=1.0)
    assert isinstance(end, Ended)
    assert (end.outcome, end.repeatable) == (Outcome.TIMED_OUT, False)
    assert time.monotonic() - began < 10


def test_a_large_request_arrives_whole(children: Children) -> None:
    end = run(children, "warm", sources=2000)
    assert isinstance(end, Reply)
    assert end.outcome is Outcome.OK


def test_what_a_dead_grandchild_leaves_behind_is_ended_too(children: Children, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    end = run(children, "forsake", trace=str(trace), limit=2.0)
    assert isinstance(end, Ended)
    pids = [int(word) for word in trace.read_text().split()]
    assert len(pids) == 2
    until(lambda: all(gone(pid) for pid in pids), 5)


def test_trouble_that_a_handler_wraps_is_no_result_and_ends_the_child(store: LocalStore, tmp_path: Path) -> None:
    ref = store.put_bytes(b"1", "value")
    graph, trace = arithmetic.Graph(), tmp_path / "trace"
    graph.job("wrapped", 1, sources={"value": ref}, trace=str(trace))
    place = store.root / blob_key(ref.digest)
    place.rename(tmp_path / "aside")
    place.mkdir()
    for _ in range(2):
        with pytest.raises(StoreError, match="Could not read blobs"):
            run_inline(graph.plan(), store, tmp_path / "c", services=(arithmetic.NAME,))
        assert list(store.list("results/")) == []
    place.rmdir()
    (tmp_path / "aside").rename(place)
    (end,) = run_inline(graph.plan(), store, tmp_path / "c", services=(arithmetic.NAME,))
    assert end.outcome is Outcome.OK
    assert len(lines(trace)) == 3


@pytest.mark.parametrize(("kind", "room"), [("wrapped", 64 * 1024), ("abort", 64 * 1024), ("wrapped", 0)])
def test_a_full_disk_is_no_finding_even_where_the_child_dies_of_it(
    store: LocalStore, tmp_path: Path, small_disk: Path, kind: str, room: int
) -> None:
    ref = store.put_bytes(b"1", "value")
    cache = small_disk / "cache"
    store.materialise(ref, cache)
    graph = arithmetic.Graph()
    graph.job(kind, MIB, sources={"value": ref})
    filler = fill(small_disk, leave=room)
    with pytest.raises(StoreError, match="The disk of this worker is full") as caught:
        run_inline(graph.plan(), store, cache, services=(arithmetic.NAME,))
    assert "\n" not in str(caught.value)
    assert list(store.list("results/")) == []
    filler.unlink()
    (end,) = run_inline(graph.plan(), store, cache, services=(arithmetic.NAME,))
    assert end.outcome is Outcome.OK


def test_a_crash_with_room_on_the_disk_stays_a_finding(children: Children) -> None:
    end = run(children, "crash", signal.SIGABRT)
    assert isinstance(end, Ended)
    assert (end.outcome, end.type, end.repeatable) == (Outcome.CRASHED, "SIGABRT", True)


def test_memory_that_was_refused_is_not_used_by_another_sweep(store: LocalStore, tmp_path: Path) -> None:
    graph, trace = arithmetic.Graph(), tmp_path / "trace"
    graph.job("fail", 1, trace=str(trace))
    for sweep in ("one", "one", "two"):
        (end,) = run_inline(graph.plan(), store, tmp_path / "c", sweep=sweep, services=(arithmetic.NAME,))
        assert end.outcome is Outcome.RUN_FAILED
    assert len(lines(trace)) == 2
