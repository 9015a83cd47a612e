from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import grpc
import pytest
from deltann.v1 import sweep_pb2 as pb
from deltann.v1.sweep_pb2_grpc import SweepServiceStub

from deltann.client import GatewayClient
from deltann.errors import InputError, ModelError, NotFoundError, QueueError, SpecError, StoreError, WorkError
from deltann.store import LocalStore
from deltann.sweep import LocalBackend

from .conftest import NamedPlanner, Running, door, serving, study


def test_a_sweep_runs_from_submission_to_its_report(client: GatewayClient, tmp_path: Path) -> None:
    sid = client.submit(study("whole"))
    seen = list(client.watch(sid))
    last = seen[-1]
    assert last.state == "done"
    assert [status.state for status in seen] != ["done"]
    assert last.counts["add"].outcomes == {"ok": 3, "skipped": 1}  # one of them to resolve
    assert last.counts["fail"].outcomes == {"convert_failed": 1}
    assert [failure.message for failure in last.failures] == ["The exporter does not know the operator."]
    assert last.analysis["gates_ok"] is True
    out = client.fetch_report(sid, tmp_path / "report")
    assert json.loads((out / "report.json").read_text())["2"] == 42.0


def test_the_client_sees_what_the_backend_sees(client: GatewayClient, running: Running) -> None:
    sid = client.submit(study("same"))
    for _ in client.watch(sid):
        pass
    assert client.status(sid) == running.stack.backend.status(sid)
    assert sid in [status.id for status in client.list_sweeps()]


def test_submitting_again_does_nothing_twice(client: GatewayClient) -> None:
    sid = client.submit(study("twice"))
    *_, first = client.watch(sid)
    assert client.submit(study("twice")) == sid
    assert client.status(sid) == first


def test_a_cancelled_sweep_ends(client: GatewayClient, tmp_path: Path) -> None:
    sid = client.submit(study("slow"))
    client.cancel(sid)
    *_, last = client.watch(sid)
    assert last.state == "cancelled"
    with pytest.raises(NotFoundError, match="no report"):
        client.fetch_report(sid, tmp_path / "report")


@pytest.mark.parametrize("call", ["status", "cancel", "watch", "fetch"])
def test_an_unknown_sweep_is_not_found(client: GatewayClient, tmp_path: Path, call: str) -> None:
    calls = {
        "status": lambda: client.status("none-such"),
        "cancel": lambda: client.cancel("none-such"),
        "watch": lambda: list(client.watch("none-such")),
        "fetch": lambda: client.fetch_report("none-such", tmp_path / "out"),
    }
    with pytest.raises(NotFoundError, match="none-such"):
        calls[call]()


@pytest.mark.parametrize(
    ("source", "data", "error"),
    [
        ("/etc/passwd", "foolbox:imagenet", SpecError),
        ("os:system", "foolbox:imagenet", ModelError),
        ("efficientnet_lite0", "/etc", SpecError),
    ],
)
def test_paths_and_code_are_refused(client: GatewayClient, source: str, data: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        client.submit(study("refused", source, data))


@pytest.mark.parametrize("text", ["", "not: [yaml", "just text", '{"schema": "deltann.study/1", "nme": "x"}'])
def test_a_text_that_is_no_study_is_refused_in_a_paragraph(running: Running, text: str) -> None:
    with grpc.insecure_channel(running.address) as channel, pytest.raises(grpc.RpcError) as caught:
        SweepServiceStub(channel).SubmitSweep(pb.SubmitSweepRequest(study=text))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "Traceback" not in caught.value.details()


def test_a_message_beyond_the_limit_is_refused(running: Running) -> None:
    with grpc.insecure_channel(running.address) as channel, pytest.raises(grpc.RpcError) as caught:
        SweepServiceStub(channel).SubmitSweep(pb.SubmitSweepRequest(study="#" * (9 << 20)))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_no_gateway_is_one_paragraph_that_says_what_to_do() -> None:
    with GatewayClient("127.0.0.1:1") as client, pytest.raises(WorkError, match="No gateway answers at"):
        client.list_sweeps()


def test_a_queue_that_is_not_there_is_said_to_the_client(tmp_path: Path) -> None:
    store, nowhere = LocalStore(tmp_path), "redis://:secret@127.0.0.1:1/0"
    with (
        serving(LocalBackend(store, nowhere, NamedPlanner()), store, nowhere, door(tmp_path / "up")) as address,
        GatewayClient(address) as client,
        pytest.raises(QueueError, match="127.0.0.1:1/0") as caught,  # noqa: RUF043
    ):
        client.submit(study("x"))
    assert "secret" not in str(caught.value)


def test_a_store_that_is_not_there_is_said_to_the_client(tmp_path: Path, running: Running) -> None:
    store = LocalStore(tmp_path / "store")
    shutil.rmtree(tmp_path / "store")
    (tmp_path / "store").write_text("in the way")
    backend = LocalBackend(store, running.stack.redis_url, NamedPlanner())
    gateway = serving(backend, store, running.stack.redis_url, door(tmp_path / "up"))
    with gateway as address, GatewayClient(address) as client:
        with pytest.raises(StoreError):
            client.submit(study("x"))
        with pytest.raises(StoreError):
            client.store.put_bytes(b"x", "x")


def test_a_study_is_validated_by_the_gateway_too(client: GatewayClient) -> None:
    with pytest.raises(InputError, match="name"):
        client.submit(study("x").model_copy(update={"name": "not/a name"}))


def test_a_key_makes_a_repeated_submission_harmless(client: GatewayClient) -> None:
    sid = client.submit(study("slow-keyed"), idempotency_key="nightly-1")
    client.cancel(sid)
    *_, last = client.watch(sid)
    assert last.state == "cancelled"
    assert client.submit(study("slow-keyed"), idempotency_key="nightly-1") == sid
    assert client.status(sid).state == "cancelled"  # without a key it would be taken up again
    with pytest.raises(InputError, match="'nightly-1' was used for something else"):
        client.submit(study("other"), idempotency_key="nightly-1")
    with pytest.raises(NotFoundError):
        client.status("other-1")


def test_another_study_under_a_key_has_its_status_code(running: Running) -> None:
    first, second = (
        pb.SubmitSweepRequest(study=study(name).model_dump_json(by_alias=True), idempotency_key="code")
        for name in ("first-of-key", "second-of-key")
    )
    with grpc.insecure_channel(running.address) as channel:
        stub = SweepServiceStub(channel)
        assert stub.SubmitSweep(first).id == stub.SubmitSweep(first).id
        with pytest.raises(grpc.RpcError) as caught:
            stub.SubmitSweep(second)
    assert caught.value.code() is grpc.StatusCode.ALREADY_EXISTS


def test_pages_of_sweeps_over_the_channel(client: GatewayClient, running: Running) -> None:
    for number in range(3):
        client.submit(study(f"paged-{number}"))
    with grpc.insecure_channel(running.address) as channel:
        stub, found, token = SweepServiceStub(channel), [], ""
        while True:
            answer = stub.ListSweeps(pb.ListSweepsRequest(page_size=2, page_token=token))
            assert 1 <= len(answer.sweeps) <= 2
            found += [sweep.id for sweep in answer.sweeps]
            token = answer.next_page_token
            if not token:
                break
    assert found == [status.id for status in client.list_sweeps()]
    assert len(set(found)) == len(found) >= 3


@pytest.mark.parametrize("request_", [{"page_token": "broken"}, {"page_token": "AAAAAAAA"}, {"page_size": 501}])
def test_a_broken_page_token_is_an_invalid_argument(running: Running, request_: dict[str, Any]) -> None:
    with grpc.insecure_channel(running.address) as channel, pytest.raises(grpc.RpcError) as caught:
        SweepServiceStub(channel).ListSweeps(pb.ListSweepsRequest(**request_))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
