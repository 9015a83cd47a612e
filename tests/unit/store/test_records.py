"""Records that a host left torn when it lost its power count as missing; those of another version do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from deltann.job import Done, JobResult, Plan
from deltann.outcome import Outcome
from deltann.store import LocalStore
from deltann.store.layout import (
    done_key,
    plan_key,
    read_all_done,
    read_done,
    read_plan,
    read_result,
    result_object_key,
    write_done,
    write_plan,
    write_result,
)

DONE = Done(outcome=Outcome.OK, result_key="k")
RESULT = JobResult(kind="add", result_key="k", outcome=Outcome.OK)
TORN = pytest.mark.parametrize("torn", [b"", b'{"outcome":"o', bytes(512)], ids=["empty", "cut short", "zeros"])


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


@TORN
def test_a_torn_record_is_missing_and_written_anew(store: LocalStore, torn: bytes) -> None:
    for key in (done_key("s", 0), result_object_key("k"), plan_key("s")):
        store.put(key, torn)
    assert (read_done(store, "s", 0), read_result(store, "k"), read_plan(store, "s")) == (None, None, None)
    assert read_all_done(store, "s") == {}
    assert write_done(store, "s", 0, DONE) is DONE
    assert write_result(store, RESULT) is RESULT
    assert write_plan(store, "s", Plan(jobs=())) == Plan(jobs=())
    assert (read_done(store, "s", 0), read_result(store, "k"), read_plan(store, "s")) == (DONE, RESULT, Plan(jobs=()))


def test_the_first_writer_is_told_by_getting_its_own_record_back(store: LocalStore) -> None:
    first, second = DONE.model_copy(), DONE.model_copy(update={"reused": True})
    assert write_done(store, "s", 0, first) is first
    assert write_done(store, "s", 0, first) is not first
    assert write_done(store, "s", 0, second) == first


def test_a_record_of_another_version_is_an_error_and_stays(store: LocalStore) -> None:
    store.put(done_key("s", 0), b'{"outcome":"ok","a_new_field":1}')
    with pytest.raises(ValidationError):
        read_done(store, "s", 0)
    with pytest.raises(ValidationError):
        write_done(store, "s", 0, DONE)
    assert store.get(done_key("s", 0)) == b'{"outcome":"ok","a_new_field":1}'
