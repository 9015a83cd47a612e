"""What the gateway takes and how it says no: sizes, numbers, pauses, deadlines, and details that programs read."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from deltann.v1 import artifact_pb2 as pb
from deltann.v1 import sweep_pb2
from deltann.v1.artifact_pb2_grpc import ArtifactServiceStub
from deltann.v1.sweep_pb2_grpc import SweepServiceStub
from deltann_gateway import artifacts, status
from deltann_gateway.uploads import UploadLimits
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from grpc_status import rpc_status

from deltann.artifact import ArtifactRef
from deltann.client import GatewayClient
from deltann.client.wire import artifact_message
from deltann.digest import digest_bytes
from deltann.errors import InputError
from deltann.store import LocalStore
from deltann.sweep import LocalBackend, SweepStatus

from .conftest import NamedPlanner, Running, door, serving

NOWHERE = "redis://127.0.0.1:1/0"


class Slow(LocalBackend):
    """Takes its time to say how a sweep is."""

    def status(self, sid: str) -> SweepStatus:
        time.sleep(1.0)
        return SweepStatus(id=sid, name=sid, state="running")


def details(error: grpc.RpcError, kind: Any) -> Any:
    """The detail of that kind, or None."""
    for packed in rpc_status.from_call(error).details:
        if packed.Is(kind.DESCRIPTOR):
            found = kind()
            packed.Unpack(found)
            return found
    return None


def refused(call: Any, *arguments: Any, **options: Any) -> grpc.RpcError:
    with pytest.raises(grpc.RpcError) as caught:
        call(*arguments, **options)
    return caught.value


@pytest.fixture
def sweeps(running: Running) -> Iterator[SweepServiceStub]:
    with grpc.insecure_channel(running.address) as channel:
        yield SweepServiceStub(channel)


def test_wrong_fields_of_a_study_are_told_field_by_field(sweeps: SweepServiceStub) -> None:
    text = (
        "{schema: deltann.study/1, name: s, models: [{name: m, natives: [{source: x}], preprocessing: [tf]}], "
        "data: {}, colour: 1}"
    )
    error = refused(sweeps.SubmitSweep, sweep_pb2.SubmitSweepRequest(study=text))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    info = details(error, ErrorInfo)
    assert (info.reason, info.domain) == ("SPEC_ERROR", "deltann")
    violations = {one.field: one.description for one in details(error, BadRequest).field_violations}
    assert set(violations) == {"data.source", "colour"}
    assert violations["data.source"] == "is required and is not there"
    assert violations["colour"].startswith("there is no such field")


def test_a_path_in_a_study_is_told_with_its_field(sweeps: SweepServiceStub) -> None:
    text = (
        "{schema: deltann.study/1, name: s, data: {source: 'foolbox:imagenet'}, "
        "models: [{name: m, natives: [{source: /etc/passwd}], preprocessing: [tf]}]}"
    )
    error = refused(sweeps.SubmitSweep, sweep_pb2.SubmitSweepRequest(study=text))
    (violation,) = details(error, BadRequest).field_violations
    assert violation.field == "models.0.natives.0.source"
    assert "is a path" in violation.description


def test_a_sweep_that_there_is_not_has_its_reason(sweeps: SweepServiceStub) -> None:
    error = refused(sweeps.GetSweep, sweep_pb2.GetSweepRequest(id="none"))
    assert error.code() is grpc.StatusCode.NOT_FOUND
    assert details(error, ErrorInfo).reason == "NOT_FOUND_ERROR"


@pytest.mark.parametrize("deadline", [None, 60.0])
def test_a_call_is_given_up_by_the_gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deadline: float) -> None:
    monkeypatch.setattr(status, "CALL_S", 0.3)
    store = LocalStore(tmp_path / "store")
    with (
        serving(Slow(store, NOWHERE, NamedPlanner()), store, NOWHERE, door(tmp_path / "up")) as address,
        grpc.insecure_channel(address) as channel,
    ):
        began = time.monotonic()
        stub = SweepServiceStub(channel)
        error = refused(stub.GetSweep, sweep_pb2.GetSweepRequest(id="x"), timeout=deadline)
        assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert time.monotonic() - began < 0.9
        assert details(error, ErrorInfo).reason == "BOUND"
        # A stream has no bound: it tells what there is, late.
        assert next(iter(stub.WatchSweep(sweep_pb2.WatchSweepRequest(id="x")))).sweep.id == "x"


def test_too_large_an_upload_is_exhaustion_that_waiting_does_not_help(running: Running) -> None:
    large = pb.Artifact(sha256="0" * 64, size=3_000_001, name="x")
    with grpc.insecure_channel(running.address) as channel:
        stub = ArtifactServiceStub(channel)
        for error in (
            refused(stub.UploadArtifact, iter([pb.UploadArtifactRequest(artifact=large)])),
            refused(stub.QueryUpload, pb.QueryUploadRequest(artifact=large)),
        ):
            assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert details(error, RetryInfo) is None
    with GatewayClient(running.address) as client, pytest.raises(InputError, match="at most 3000000"):
        client.store.put_bytes(bytes(3_000_001), "x")


class Stalled:
    """Uploads that have begun and send nothing more until they are let go."""

    def __init__(self, stub: ArtifactServiceStub) -> None:
        self._stub, self._go = stub, threading.Event()
        self._threads: list[threading.Thread] = []

    def begin(self, data: bytes) -> None:
        def parts() -> Iterator[pb.UploadArtifactRequest]:
            ref = ArtifactRef(digest=digest_bytes(data), size=len(data), name="x")
            yield pb.UploadArtifactRequest(artifact=artifact_message(ref))
            self._go.wait(20)
            yield pb.UploadArtifactRequest(chunk=data)

        self._threads.append(threading.Thread(target=self._stub.UploadArtifact, args=(parts(),), daemon=True))
        self._threads[-1].start()
        time.sleep(0.3)

    def end(self) -> None:
        self._go.set()
        for thread in self._threads:
            thread.join(timeout=20)


def test_uploads_at_a_time_are_bounded_and_the_client_waits_for_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifacts, "_WAIT_S", 0.2)
    store, limits = LocalStore(tmp_path / "store"), UploadLimits(at_once=2, idle_s=20)
    backend = LocalBackend(store, NOWHERE, NamedPlanner())
    with (
        serving(backend, store, NOWHERE, door(tmp_path / "up", limits=limits)) as address,
        grpc.insecure_channel(address) as channel,
    ):
        stub = ArtifactServiceStub(channel)
        stalled = Stalled(stub)
        stalled.begin(b"one")
        stalled.begin(b"two")
        third = pb.Artifact(sha256=digest_bytes(b"three"), size=5, name="x")
        error = refused(stub.UploadArtifact, iter([pb.UploadArtifactRequest(artifact=third)]))
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert details(error, RetryInfo).retry_delay.seconds == 5
        threading.Timer(1.0, stalled.end).start()
        with GatewayClient(address) as client:
            assert client.store.read(client.store.put_bytes(b"three", "x")) == b"three"
        stalled.end()
        assert store.get(f"blobs/{digest_bytes(b'one')[:2]}/{digest_bytes(b'one')}") == b"one"


def test_an_upload_that_pauses_is_let_go_and_kept(running: Running) -> None:
    data = b"paused upload"
    named = artifact_message(ArtifactRef(digest=digest_bytes(data), size=len(data), name="x"))
    done = threading.Event()

    def parts() -> Iterator[pb.UploadArtifactRequest]:
        yield pb.UploadArtifactRequest(artifact=named)
        yield pb.UploadArtifactRequest(chunk=data[:6])
        done.wait(10)

    with grpc.insecure_channel(running.address) as channel:
        stub = ArtifactServiceStub(channel)
        began = time.monotonic()
        error = refused(stub.UploadArtifact, parts())
        done.set()
        assert time.monotonic() - began < 8
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert details(error, RetryInfo) is not None
        assert stub.QueryUpload(pb.QueryUploadRequest(artifact=named)).received == 6


def test_one_upload_of_an_artifact_at_a_time(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "store")
    here = door(tmp_path / "up", limits=UploadLimits(idle_s=20))
    with (
        serving(LocalBackend(store, NOWHERE, NamedPlanner()), store, NOWHERE, here) as address,
        grpc.insecure_channel(address) as channel,
    ):
        stub = ArtifactServiceStub(channel)
        stalled = Stalled(stub)
        stalled.begin(b"the same")
        named = pb.Artifact(sha256=digest_bytes(b"the same"), size=8, name="x")
        error = refused(stub.UploadArtifact, iter([pb.UploadArtifactRequest(artifact=named)]))
        assert error.code() is grpc.StatusCode.ABORTED
        threading.Timer(0.5, stalled.end).start()
        with GatewayClient(address) as client:
            client.store.upload(*_as_file(tmp_path, b"the same"))
        stalled.end()
        assert store.read(ArtifactRef(digest=named.sha256, size=8, name="x")) == b"the same"


def _as_file(folder: Path, data: bytes) -> tuple[str, Path]:
    path = folder / "file"
    path.write_bytes(data)
    return f"blobs/{digest_bytes(data)[:2]}/{digest_bytes(data)}", path


def test_a_message_beyond_the_limit_is_refused_and_the_gateway_goes_on(running: Running) -> None:
    named = pb.Artifact(sha256=digest_bytes(b"x"), size=1, name="x")
    with grpc.insecure_channel(running.address) as channel:
        parts = [pb.UploadArtifactRequest(artifact=named), pb.UploadArtifactRequest(chunk=bytes(9 << 20))]
        assert refused(ArtifactServiceStub(channel).UploadArtifact, iter(parts)).code() in (
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            grpc.StatusCode.DATA_LOSS,
        )
    with GatewayClient(running.address) as client:
        assert client.store.read(client.store.put_bytes(b"y", "y")) == b"y"
