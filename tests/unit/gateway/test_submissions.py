from __future__ import annotations

from pathlib import Path

import pytest
from deltann.v1.conversion_pb2 import SubmitConversionRequest
from deltann.v1.sweep_pb2 import SubmitSweepRequest
from deltann_gateway.refusals import ConflictError
from deltann_gateway.submissions import once

from deltann.errors import InputError
from deltann.store import LocalStore


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


class Submit:
    def __init__(self, *ids: str) -> None:
        self.ids, self.calls = list(ids), 0

    def __call__(self) -> str:
        self.calls += 1
        return self.ids.pop(0)


def sweep(study: str, key: str) -> SubmitSweepRequest:
    return SubmitSweepRequest(study=study, idempotency_key=key)


def test_the_same_key_and_content_submit_once_whichever_gateway_is_asked(store: LocalStore, tmp_path: Path) -> None:
    submit = Submit("a")
    assert once(store, "ci", sweep("x", "k"), submit) == "a"
    assert once(LocalStore(tmp_path), "ci", sweep("x", "k"), submit) == "a"
    assert submit.calls == 1


def test_other_content_under_a_key_is_refused_and_not_submitted(store: LocalStore) -> None:
    submit = Submit("a", "b")
    once(store, "ci", sweep("x", "k"), submit)
    with pytest.raises(ConflictError, match="'k'"):
        once(store, "ci", sweep("y", "k"), submit)
    assert submit.calls == 1


def test_keys_are_of_a_caller_and_a_method(store: LocalStore) -> None:
    submit = Submit("a", "b", "c", "d")
    assert once(store, "ci", sweep("x", "k"), submit) == "a"
    assert once(store, "me", sweep("y", "k"), submit) == "b"
    assert once(store, "ci", SubmitConversionRequest(target="onnx", idempotency_key="k"), submit) == "c"
    assert once(store, "ci", sweep("x", "l"), submit) == "d"


def test_without_a_key_every_call_submits(store: LocalStore) -> None:
    submit = Submit("a", "b")
    assert [once(store, "ci", sweep("x", ""), submit) for _ in range(2)] == ["a", "b"]
    assert list(store.list("submissions/")) == []


def test_a_call_that_failed_in_between_is_done_again(store: LocalStore) -> None:
    def fail() -> str:
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        once(store, "ci", sweep("x", "k"), fail)
    assert once(store, "ci", sweep("x", "k"), Submit("a")) == "a"
    with pytest.raises(ConflictError):
        once(store, "ci", sweep("y", "k"), Submit("b"))


@pytest.mark.parametrize("key", ["../../etc/passwd", "a/b", "\0", "k" * 128, "ключ"])
def test_a_key_is_no_path(store: LocalStore, key: str) -> None:
    assert once(store, "ci", sweep("x", key), Submit("a")) == "a"
    (content, identity) = store.list("submissions/")
    assert identity.split("/")[0] == "submissions"
    assert len(identity.split("/")) == len(content.split("/")) == 3


def test_a_key_has_a_limit(store: LocalStore) -> None:
    with pytest.raises(InputError, match="129 characters"):
        once(store, "ci", sweep("x", "k" * 129), Submit("a"))
