from __future__ import annotations

import hashlib
import random
from pathlib import Path

import grpc
import pytest

from deltann.artifact import ArtifactRef
from deltann.client import GatewayClient
from deltann.client.wire import artifact_message
from deltann.errors import CorruptArtifactError, InputError, StoreError
from deltann.store.base import blob_key
from deltann.store.pieces import list_key, piece_key
from deltann.v1 import artifact_pb2 as pb
from deltann.v1.artifact_pb2_grpc import ArtifactServiceStub

from .conftest import Running


def send(running: Running, parts: list[pb.UploadArtifactRequest]) -> grpc.RpcError:
    with grpc.insecure_channel(running.address) as channel, pytest.raises(grpc.RpcError) as caught:
        ArtifactServiceStub(channel).UploadArtifact(iter(parts))
    return caught.value


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (2 << 20) + 17])
def test_a_file_comes_back_as_it_was_sent(client: GatewayClient, running: Running, tmp_path: Path, size: int) -> None:
    data = bytes(i * 31 % 251 for i in range(size))
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    ref = client.store.put_path(path)
    assert ref == ArtifactRef(digest=hashlib.sha256(data).hexdigest(), size=size, name="model.onnx")
    assert running.stack.store.read(ref) == data
    assert client.store.read(ref) == data


def test_a_folder_comes_back_as_it_was_sent(client: GatewayClient, tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    (folder / "variables").mkdir(parents=True)
    (folder / "variables" / "v").write_bytes(b"weights")
    ref = client.store.put_path(folder)
    assert ref.packing == "tar"
    assert (client.store.materialise(ref, tmp_path / "cache") / "variables" / "v").read_bytes() == b"weights"


def test_what_is_there_is_not_sent_again(
    client: GatewayClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"once")
    first = client.store.put_path(path)
    monkeypatch.setattr(client.store, "upload", lambda *_: pytest.fail("sent again"))
    assert client.store.put_path(path) == first


def test_bytes_of_another_digest_are_refused_and_not_stored(running: Running) -> None:
    ref = ArtifactRef(digest=hashlib.sha256(b"good").hexdigest(), size=4, name="x")
    named = pb.UploadArtifactRequest(artifact=artifact_message(ref))
    error = send(running, [named, pb.UploadArtifactRequest(chunk=b"evil")])
    assert error.code() is grpc.StatusCode.DATA_LOSS
    assert not running.stack.store.exists(blob_key(ref.digest))


@pytest.mark.parametrize("chunks", [[b"go"], [b"good", b"more"], []], ids=["too few", "too many", "none"])
def test_bytes_of_another_size_are_refused(running: Running, chunks: list[bytes]) -> None:
    ref = ArtifactRef(digest=hashlib.sha256(b"good!").hexdigest(), size=5, name="x")
    parts = [pb.UploadArtifactRequest(artifact=artifact_message(ref))]
    error = send(running, parts + [pb.UploadArtifactRequest(chunk=chunk) for chunk in chunks])
    assert error.code() is grpc.StatusCode.DATA_LOSS


def test_an_upload_without_a_name_is_refused(running: Running) -> None:
    assert send(running, [pb.UploadArtifactRequest(chunk=b"x")]).code() is grpc.StatusCode.INVALID_ARGUMENT
    assert send(running, []).code() is grpc.StatusCode.INVALID_ARGUMENT


def test_an_upload_that_is_too_large_is_refused_before_it_is_sent(client: GatewayClient) -> None:
    ref = ArtifactRef(digest="0" * 64, size=3_000_001, name="large.onnx")
    with pytest.raises(InputError, match=r"at most 3000000"):
        client.store._send(blob_key(ref.digest), _Endless(), ref.size, ref.name)  # type: ignore[arg-type]


class _Endless:
    def seek(self, offset: int) -> None: ...

    def read(self, size: int) -> bytes:
        return b"0" * size


def test_a_corrupt_object_is_refused_not_sent(client: GatewayClient, running: Running) -> None:
    ref = running.stack.store.put_bytes(b"right", "x")
    running.stack.store.put(blob_key(ref.digest), b"wrong")
    with pytest.raises(CorruptArtifactError, match="refused"):
        client.store.read(ref)


def test_what_is_stored_in_pieces_is_sent_whole(client: GatewayClient, running: Running, tmp_path: Path) -> None:
    path, store = tmp_path / "module.so", running.stack.store
    path.write_bytes(random.Random(3).randbytes(2_500_000))
    ref = store.put_path(path, shares=True)
    assert not store.exists(blob_key(ref.digest))
    assert client.store.has(ref.digest)
    assert client.store.put_path(path) == ref  # it is there, and not sent
    assert not store.exists(blob_key(ref.digest))
    assert client.store.materialise(ref, tmp_path / "cache").read_bytes() == path.read_bytes()
    assert client.store.read(ref) == path.read_bytes()
    store.put(piece_key(store.get(list_key(ref.digest)).decode().split("\n")[1]), b"wrong")  # type: ignore[union-attr]
    with pytest.raises(CorruptArtifactError, match="refused"):
        client.store.read(ref)


def test_what_is_not_there_is_none(client: GatewayClient) -> None:
    assert client.store.get(blob_key("1" * 64)) is None
    assert not client.store.exists(blob_key("1" * 64))


@pytest.mark.parametrize("key", ["sweeps/x/plan", "results/abc", "blobs/00/../../sweeps"])
def test_other_objects_of_the_store_are_out_of_reach(client: GatewayClient, key: str) -> None:
    with pytest.raises((StoreError, ValueError, InputError)):
        client.store.get(key)
