from __future__ import annotations

import time
from collections.abc import Iterator

import grpc
import pytest
from deltann_gateway.refusals import LimitError
from deltann_gateway.status import details_of
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from deltann.client.link import Link

CODES = grpc.StatusCode


class Failure(grpc.RpcError):
    """An error as gRPC raises it."""

    def __init__(
        self, code: grpc.StatusCode, text: str = "Socket closed", reason: str = "", retry_s: float | None = None
    ) -> None:
        self._code, self._text = code, text
        status = Status(code=code.value[0], message=text)
        details = [ErrorInfo(reason=reason, domain="deltann")] if reason else []
        for detail in (*details, *details_of(LimitError(text, retry_s))):
            packed = AnyMessage()
            packed.Pack(detail)
            status.details.append(packed)
        self._metadata = (("grpc-status-details-bin", status.SerializeToString()),) if status.details else ()

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return self._text

    def trailing_metadata(self) -> tuple[tuple[str, bytes], ...]:
        return self._metadata


NOWHERE = Failure(CODES.UNAVAILABLE, "failed to connect to all addresses; last error: refused")
CLOSED = Failure(CODES.UNAVAILABLE)
STORE = Failure(CODES.UNAVAILABLE, "The store is not there.", "STORE_ERROR")


@pytest.fixture
def link(monkeypatch: pytest.MonkeyPatch) -> Iterator[Link]:
    """A link whose time passes while it waits, and only then."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    link = Link("127.0.0.1:1", patience_s=30.0)
    yield link
    link.channel.close()


class Script:
    """Raises or answers, one after another; the last for ever."""

    def __init__(self, *acts: object) -> None:
        self.acts, self.calls = list(acts), 0

    def __call__(self) -> object:
        self.calls += 1
        act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
        if isinstance(act, Exception):
            raise act
        return act


def test_a_gateway_that_was_never_there_is_told_at_once(link: Link) -> None:
    act = Script(NOWHERE)
    with pytest.raises(grpc.RpcError):
        link.call(act)
    assert act.calls == 1


def test_one_that_was_there_is_waited_for(link: Link) -> None:
    assert link.call(Script("first")) == "first"
    assert link.call(Script(NOWHERE, NOWHERE, CLOSED, "again")) == "again"


def test_a_connection_that_broke_is_made_again_also_for_the_first_call(link: Link) -> None:
    assert link.call(Script(CLOSED, "answer")) == "answer"


def test_patience_ends_with_the_error(link: Link) -> None:
    link.call(Script("there"))
    act = Script(NOWHERE)
    with pytest.raises(Failure):
        link.call(act)
    assert 20 < time.monotonic() <= 36
    assert 5 < act.calls < 15


@pytest.mark.parametrize("code", [code for code in CODES if code not in (CODES.OK, CODES.UNAVAILABLE)])
def test_other_refusals_are_not_repeated(link: Link, code: grpc.StatusCode) -> None:
    link.call(Script("there"))
    act = Script(Failure(code))
    with pytest.raises(grpc.RpcError):
        link.call(act)
    assert act.calls == 1


def test_what_the_gateway_wants_again_is_sent_again_after_its_time(link: Link) -> None:
    assert link.call(Script(Failure(CODES.RESOURCE_EXHAUSTED, "full", "LIMIT_ERROR", retry_s=7.5), "taken")) == "taken"
    assert 6 <= time.monotonic() <= 9


def test_a_store_that_is_not_there_is_told_at_once(link: Link) -> None:
    act = Script("there", STORE)
    link.call(act)
    with pytest.raises(grpc.RpcError):
        link.call(act)
    assert act.calls == 2


def breaking(*streams: tuple[object, ...]) -> Iterator[Iterator[object]]:
    def run(acts: tuple[object, ...]) -> Iterator[object]:
        for act in acts:
            if isinstance(act, Exception):
                raise act
            yield act

    for acts in streams:
        yield run(acts)


def test_a_stream_goes_on_through_breaks_restarts_and_a_store_that_is_away(link: Link) -> None:
    streams = breaking((1, CLOSED), (NOWHERE,), (2, 3, STORE), (STORE,), (4, Failure(CODES.CANCELLED)), (5,))
    assert list(link.stream(lambda: next(streams))) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("error", [NOWHERE, STORE, Failure(CODES.CANCELLED), Failure(CODES.NOT_FOUND)])
def test_a_stream_that_never_began_is_given_up(link: Link, error: Failure) -> None:
    streams = breaking((error,), (1,))
    with pytest.raises(grpc.RpcError):
        list(link.stream(lambda: next(streams)))


def test_progress_renews_patience(link: Link) -> None:
    streams = breaking((1, CLOSED), *((NOWHERE,) for _ in range(5)), (2, CLOSED), *((NOWHERE,) for _ in range(5)), (3,))
    assert list(link.stream(lambda: next(streams))) == [1, 2, 3]
