"""Connections that break and gateways that are killed: transfers and watches go on."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import pairwise
from pathlib import Path
from random import Random

import grpc
import pytest
from breaking import Relay
from deltann_gateway.main import check

from deltann.artifact import ArtifactRef
from deltann.client import GatewayClient
from deltann.client.wire import artifact_message
from deltann.digest import digest_bytes
from deltann.errors import WorkError
from deltann.store.base import blob_key
from deltann.v1 import artifact_pb2 as pb
from deltann.v1.artifact_pb2_grpc import ArtifactServiceStub

from .conftest import Running, door, serving, study
from .test_main import free_port

SIZE = 2_800_000
MIB = 1 << 20
GATEWAY = Path(sys.executable).with_name("deltann-gateway")


def fresh(seed: int, size: int = SIZE) -> tuple[bytes, ArtifactRef]:
    data = Random(seed).randbytes(size)
    return data, ArtifactRef(digest=digest_bytes(data), size=size, name="model.onnx")


@pytest.fixture
def stub(running: Running) -> Iterator[ArtifactServiceStub]:
    with grpc.insecure_channel(running.address) as channel:
        yield ArtifactServiceStub(channel)


def parts(ref: ArtifactRef, data: bytes, offset: int = 0) -> Iterator[pb.UploadArtifactRequest]:
    yield pb.UploadArtifactRequest(artifact=artifact_message(ref), offset=offset)
    for start in range(offset, len(data), 100_000):
        yield pb.UploadArtifactRequest(chunk=data[start : start + 100_000])


def broken(ref: ArtifactRef, data: bytes, until: int) -> Iterator[pb.UploadArtifactRequest]:
    """An upload that stops, and whose client then goes away."""
    sent = 0
    for part in parts(ref, data):
        yield part
        sent += len(part.chunk)
        if sent >= until:
            time.sleep(0.3)  # until it has been taken
            raise RuntimeError("the client is gone")


def query(stub: ArtifactServiceStub, ref: ArtifactRef) -> tuple[int, bool]:
    answer = stub.QueryUpload(pb.QueryUploadRequest(artifact=artifact_message(ref)))
    return answer.received, answer.complete


def arrived(stub: ArtifactServiceStub, ref: ArtifactRef, number: int) -> None:
    deadline = time.monotonic() + 5
    while query(stub, ref) != (number, False):
        assert time.monotonic() < deadline, query(stub, ref)
        time.sleep(0.05)


def test_an_upload_that_broke_goes_on_from_what_arrived(stub: ArtifactServiceStub, running: Running) -> None:
    data, ref = fresh(1)
    assert query(stub, ref) == (0, False)
    with pytest.raises(grpc.RpcError):
        stub.UploadArtifact(broken(ref, data, 500_000))
    arrived(stub, ref, 500_000)
    stub.UploadArtifact(parts(ref, data, 500_000))
    assert running.stack.store.read(ref) == data
    assert query(stub, ref) == (SIZE, True)


def test_an_upload_that_goes_on_elsewhere_is_refused_with_where_it_has_to(stub: ArtifactServiceStub) -> None:
    data, ref = fresh(2)
    with pytest.raises(grpc.RpcError):
        stub.UploadArtifact(broken(ref, data, 500_000))
    arrived(stub, ref, 500_000)
    with pytest.raises(grpc.RpcError) as caught:
        stub.UploadArtifact(parts(ref, data, 400_000))
    assert caught.value.code() is grpc.StatusCode.OUT_OF_RANGE
    assert "500000 bytes have arrived" in caught.value.details()
    assert query(stub, ref) == (500_000, False)


def test_an_upload_that_goes_on_with_other_bytes_is_refused_and_forgotten(
    stub: ArtifactServiceStub, running: Running
) -> None:
    data, ref = fresh(3)
    with pytest.raises(grpc.RpcError):
        stub.UploadArtifact(broken(ref, data, 500_000))
    arrived(stub, ref, 500_000)
    with pytest.raises(grpc.RpcError) as caught:
        stub.UploadArtifact(parts(ref, bytes(SIZE), 500_000))
    assert caught.value.code() is grpc.StatusCode.DATA_LOSS
    assert not running.stack.store.exists(blob_key(ref.digest))
    assert query(stub, ref) == (0, False)


@pytest.mark.parametrize("shared", [True, False])
def test_an_upload_that_broke_at_one_gateway_goes_on_or_begins_again_at_another(
    running: Running, tmp_path: Path, shared: bool
) -> None:
    stack, (data, ref) = running.stack, fresh(20 + shared)

    def gateway(name: str) -> AbstractContextManager[str]:
        here = door(tmp_path / ("uploads" if shared else name))
        return serving(stack.backend, stack.store, stack.redis_url, here)

    with (
        gateway("one") as one,
        gateway("other") as other,
        grpc.insecure_channel(one) as first,
        grpc.insecure_channel(other) as second,
    ):
        here, there = ArtifactServiceStub(first), ArtifactServiceStub(second)
        with pytest.raises(grpc.RpcError):
            here.UploadArtifact(broken(ref, data, 500_000))
        arrived(here, ref, 500_000)
        if shared:
            assert query(there, ref) == (500_000, False)
            there.UploadArtifact(parts(ref, data, 500_000))
        else:
            assert query(there, ref) == (0, False)
            with pytest.raises(grpc.RpcError) as caught:
                there.UploadArtifact(parts(ref, data, 500_000))
            assert caught.value.code() is grpc.StatusCode.OUT_OF_RANGE
            assert "0 bytes have arrived at this gateway" in caught.value.details()
            assert "Go on at 0." in caught.value.details()
            there.UploadArtifact(parts(ref, data))
        assert stack.store.read(ref) == data
        assert query(here, ref) == query(there, ref) == (SIZE, True)


def test_the_client_whose_gateway_changes_begins_again_by_itself(running: Running, tmp_path: Path) -> None:
    stack, (data, ref) = running.stack, fresh(30)
    with (
        serving(stack.backend, stack.store, stack.redis_url, door(tmp_path / "one")) as one,
        serving(stack.backend, stack.store, stack.redis_url, door(tmp_path / "other")) as other,
    ):
        relay = Relay(one, upload=True)
        relay.cuts = [1_500_000]
        with GatewayClient(relay.address, patience_s=20) as client:
            client.list_sweeps()
            relay.to(other)  # from the next connection on
            assert client.store.put_bytes(data, "model.onnx") == ref
        relay.close()
    assert stack.store.read(ref) == data
    assert relay.passed[1] > SIZE


def test_the_client_goes_on_with_an_upload_by_itself(running: Running) -> None:
    data, ref = fresh(4)
    relay = Relay(running.address, upload=True)
    relay.cuts = [1_500_000, 700_000]
    with GatewayClient(relay.address, patience_s=20) as client:
        assert client.store.put_bytes(data, "model.onnx") == ref
    relay.close()
    assert running.stack.store.read(ref) == data
    assert len(relay.passed) == 3
    assert relay.passed[2] < SIZE - MIB + 50_000  # the whole chunk of the first was not sent again


def test_the_client_goes_on_with_a_download_by_itself(running: Running) -> None:
    data, _ = fresh(5, 6_000_000)
    ref = running.stack.store.put_bytes(data, "large")
    relay = Relay(running.address, upload=False)
    relay.cuts = [2_500_000, 2_000_000]
    with GatewayClient(relay.address, patience_s=20) as client:
        assert client.store.read(ref) == data
    relay.close()
    assert len(relay.passed) == 3
    assert relay.passed[2] < len(data) - MIB + 50_000  # whole chunks that came were not sent again


@pytest.mark.parametrize("offset", [0, 1, MIB, 2_999_999, 3_000_000])
def test_a_download_begins_where_it_is_told(stub: ArtifactServiceStub, running: Running, offset: int) -> None:
    data, _ = fresh(6, 3_000_000)
    ref = running.stack.store.put_bytes(data, "x")
    request = pb.DownloadArtifactRequest(artifact=artifact_message(ref), offset=offset)
    assert b"".join(part.chunk for part in stub.DownloadArtifact(request)) == data[offset:]


def test_a_download_cannot_begin_after_the_end(stub: ArtifactServiceStub, running: Running) -> None:
    ref = running.stack.store.put_bytes(b"12345", "x")
    with pytest.raises(grpc.RpcError) as caught:
        list(stub.DownloadArtifact(pb.DownloadArtifactRequest(artifact=artifact_message(ref), offset=6)))
    assert caught.value.code() is grpc.StatusCode.OUT_OF_RANGE


class Process:
    """A gateway as a process on one address, that can be killed and started again."""

    def __init__(self, running: Running, uploads: Path) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        stack = running.stack
        self._command = [GATEWAY, "--listen", self.address, "--redis", stack.redis_url, "--store", stack.store.url]
        self._command += ["--no-dispatcher", "--uploads", uploads]
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while True:
            try:
                check(self.address)
                return
            except WorkError:
                assert time.monotonic() < deadline
                time.sleep(0.1)

    def end(self, number: signal.Signals) -> None:
        self._process.send_signal(number)
        self._process.wait(timeout=20)


@pytest.fixture
def process(running: Running, tmp_path: Path) -> Iterator[Process]:
    process = Process(running, tmp_path / "uploads")
    yield process
    process.end(signal.SIGKILL)


def meanwhile(act: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_watch_goes_on_when_the_gateway_was_ended_and_is_back(
    running: Running, process: Process, number: signal.Signals
) -> None:
    with GatewayClient(process.address, patience_s=60) as client:
        sid = client.submit(study(f"slow-watched-{number.name.lower()}"))
        seen = []
        for status in client.watch(sid):
            seen.append(status)
            if status.state == "running" and not process_was_ended(seen):
                process.end(number)
                process.start()
                meanwhile(lambda: (time.sleep(1), running.stack.backend.cancel(sid))[1])
    assert seen[-1].state == "cancelled"
    assert all(one != other for one, other in pairwise(seen))


def test_a_gateway_with_watching_clients_ends_at_once(running: Running, process: Process) -> None:
    with GatewayClient(process.address) as client:
        sid = client.submit(study("slow-watched-to-the-end"))
        watch = client.watch(sid)
        next(watch)
        began = time.monotonic()
        process.end(signal.SIGTERM)
        assert time.monotonic() - began < 4  # its grace for running calls is 5
    running.stack.backend.cancel(sid)


def process_was_ended(seen: list[object]) -> bool:
    return sum(getattr(status, "state", "") == "running" for status in seen) > 1


def test_calls_wait_for_a_gateway_that_was_there(running: Running, process: Process) -> None:
    with GatewayClient(process.address, patience_s=60) as client:
        client.list_sweeps()
        process.end(signal.SIGKILL)
        back = meanwhile(lambda: (time.sleep(1.5), process.start())[1])
        sid = client.submit(study("submitted-to-one-that-was-away"))
        back.join()
        assert client.status(sid).id == sid


def test_an_upload_goes_on_with_a_gateway_that_was_killed_in_between(
    running: Running, process: Process, tmp_path: Path
) -> None:
    data, ref = fresh(7, 40_000_000)
    path, uploads = tmp_path / "model.onnx", tmp_path / "uploads"
    path.write_bytes(data)
    at_death: list[int] = []
    relay = Relay(process.address, upload=True)

    def kill() -> None:
        while sum(file.stat().st_size for file in uploads.iterdir()) < 4 * MIB:
            time.sleep(0.005)
        process.end(signal.SIGKILL)
        at_death.append(sum(file.stat().st_size for file in uploads.iterdir()))
        process.start()

    killer = meanwhile(kill)
    with GatewayClient(relay.address, patience_s=60) as client:
        assert client.store.put_path(path) == ref
    killer.join()
    relay.close()
    assert running.stack.store.read(ref) == data
    assert 4 * MIB <= at_death[0] < len(data)
    assert relay.passed[-1] < len(data) - at_death[0] + 100_000
    assert list(uploads.iterdir()) == []


def test_patience_ends(running: Running, tmp_path: Path) -> None:
    process = Process(running, tmp_path / "uploads")
    with GatewayClient(process.address, patience_s=1.5) as client:
        client.list_sweeps()
        process.end(signal.SIGKILL)
        began = time.monotonic()
        with pytest.raises(WorkError, match="No gateway answers"):
            client.list_sweeps()
        assert 0.5 < time.monotonic() - began < 10
