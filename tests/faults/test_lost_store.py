"""The store is away, full, or left with half a record."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import s3
from bucket import Bucket
from disks import fill
from fleet import Fleet, until
from planner import study
from stacks import lines
from tables import Tables, graph, nothing_lost_or_doubled, tables, wait

from deltann.store import LocalStore
from deltann.store.layout import done_key, read_all_done, resolve_graph, result_object_key

AWAY_S = float(os.environ.get("DELTANN_S3_AWAY_S", "8"))
"""How long the S3 server is away; a minute in `make test-faults`."""
Measured = Callable[[str, float], None]


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    monkeypatch.setenv("DELTANN_S3_ACCESS_KEY", s3.ACCESS_KEY)
    monkeypatch.setenv("DELTANN_S3_SECRET_KEY", s3.SECRET_KEY)
    made = Bucket(tmp_path / "s3")
    yield made
    made.signal(signal.SIGKILL)


@pytest.mark.parametrize("how", ["killed", pytest.param("stopped", marks=pytest.mark.faults)])
def test_the_s3_server_is_away(
    new_fleet: Callable[..., Fleet], bucket: Bucket, undisturbed: Tables, measured: Measured, how: str
) -> None:
    fleet = new_fleet(bucket.url)
    fleet.redis()
    fleet.dispatcher()
    fleet.worker("one")
    fleet.worker("two")
    sid = fleet.submit("sweep", graph(fleet.trace))
    until(lambda: len(lines(fleet.trace)) >= 4, 40, "the first jobs")
    bucket.signal(signal.SIGKILL if how == "killed" else signal.SIGSTOP)
    time.sleep(AWAY_S)
    begun = len(lines(fleet.trace))
    if how == "killed":
        bucket.start()
    else:
        bucket.signal(signal.SIGCONT)
    taken = until(lambda: len(lines(fleet.trace)) > begun, 60, "the next job")
    measured(f"S3 was {how} for {AWAY_S:g} s: the next job began", taken)
    assert tables(fleet, sid, 90) == undisturbed
    nothing_lost_or_doubled(fleet, sid, begun_again=4)


@pytest.mark.faults
def test_a_full_store_ends_the_sweep_with_its_reason_and_submitting_it_again_goes_on(
    new_fleet: Callable[..., Fleet], small_disk: Path, undisturbed: Tables
) -> None:
    fleet = new_fleet(str(small_disk / "store"))
    fleet.redis()
    fleet.dispatcher()
    fleet.worker("one")
    fleet.worker("two")
    jobs = graph(fleet.trace)
    sid = fleet.submit("sweep", jobs)
    until(lambda: len(lines(fleet.trace)) >= 4, 30, "the first jobs")
    filler = fill(small_disk)
    end = wait(fleet, sid)
    assert end.state == "failed"
    assert "the disk is full" in (end.error or "")
    filler.unlink()
    assert fleet.backend.submit(study("sweep")) == sid
    assert tables(fleet, sid) == undisturbed
    nothing_lost_or_doubled(fleet, sid, begun_again=20)


@pytest.mark.faults
def test_one_worker_with_a_full_disk_among_others_ends_nothing(
    fleet: Fleet, small_disk: Path, undisturbed: Tables
) -> None:
    healthy, fleet.cache = fleet.cache, small_disk / "cache"
    fleet.worker("full")
    until(lambda: (small_disk / "cache" / "work").exists(), 20, "the worker")
    fill(small_disk)
    fleet.cache = healthy
    fleet.worker("one")
    sid = fleet.submit("sweep", graph(fleet.trace, seconds=0.5))
    assert tables(fleet, sid, 90) == undisturbed
    nothing_lost_or_doubled(fleet, sid, begun_again=30)
    assert "No space left on device" in (fleet.folder / "full.log").read_text()


@pytest.mark.parametrize("torn", [b"", b'{"outcome":"o', bytes(100)], ids=["empty", "cut short", "zeros"])
@pytest.mark.faults
def test_records_that_a_power_loss_left_torn_are_made_anew(fleet: Fleet, undisturbed: Tables, torn: bytes) -> None:
    """A result, a done record and a plan, as a file system leaves what was not flushed to its disk."""
    fleet.worker("one")
    sid = fleet.submit("sweep", graph(fleet.trace))
    until(lambda: len(lines(fleet.trace)) >= 4, 30, "the first jobs")
    fleet.kill("dispatcher")
    fleet.kill("one")
    fleet.kill("redis")
    store = LocalStore(Path(fleet.store_url))
    done = read_all_done(store, sid)
    last = max(done, key=lambda index: done[index].finished)
    for key in (done_key(sid, last), result_object_key(done[last].result_key or "")):
        store.put(key, torn)
    store.put(done_key(resolve_graph(sid), 0), torn)
    fleet.redis(appendonly=False)
    fleet.again("dispatcher")
    fleet.again("one")
    assert tables(fleet, sid) == undisturbed
    nothing_lost_or_doubled(fleet, sid, begun_again=2, uncounted=100)
