"""The gateway's artifacts as an artifact store: staging and fetching work on it as on any other."""

from __future__ import annotations

import io
import shutil
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

import grpc

from deltann.artifact import ArtifactRef
from deltann.client.channel import calls
from deltann.client.wire import CHUNK, artifact_message, artifact_ref
from deltann.digest import digest_file
from deltann.errors import CorruptArtifactError, NotFoundError, StoreError
from deltann.store.base import ArtifactStore, blob_key
from deltann.v1 import artifact_pb2 as pb
from deltann.v1.artifact_pb2_grpc import ArtifactServiceStub


class Part(Protocol):
    """A message of a transfer: the first has ``artifact``, the others ``chunk``."""

    @property
    def artifact(self) -> pb.Artifact:
        """What it is."""

    @property
    def chunk(self) -> bytes:
        """Some of its bytes."""


class GatewayStore(ArtifactStore):
    """Artifacts only: every other key of a store is the gateway's own and refused."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        self._stub = ArtifactServiceStub(channel)
        self._address = address

    @property
    def url(self) -> str:
        """``grpc://HOST:PORT``."""
        return f"grpc://{self._address}"

    def exists(self, key: str) -> bool:
        """Whether the gateway's store has the artifact."""
        with calls(self._address):
            return self._stub.ArtifactExists(pb.ArtifactExistsRequest(sha256=_digest(key))).exists

    def get(self, key: str) -> bytes | None:
        """An artifact's bytes."""
        buffer = io.BytesIO()
        return buffer.getvalue() if self.download(key, buffer) else None

    def put(self, key: str, data: bytes) -> None:
        """Send an artifact."""
        self._send(key, io.BytesIO(data), len(data), "bytes")

    def upload(self, key: str, path: Path) -> None:
        """Send an artifact out of a file, in chunks of 1 MiB."""
        with path.open("rb") as file:
            self._send(key, file, path.stat().st_size, path.name)

    def download(self, key: str, file: BinaryIO) -> bool:
        """Receive an artifact into an open file."""
        named = pb.Artifact(sha256=_digest(key), name="artifact")
        try:
            with calls(self._address):
                for part in self._stub.DownloadArtifact(pb.DownloadArtifactRequest(artifact=named)):
                    file.write(part.chunk)
        except NotFoundError:
            return False
        return True

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Send an artifact that is not there."""
        if self.exists(key):
            return False
        self.put(key, data)
        return True

    def list(self, prefix: str) -> Iterator[str]:
        """Refused: a client sees the artifacts that it can name."""
        raise StoreError(f"{self.url} does not list its store.")

    def delete(self, key: str) -> None:
        """Refused: other sweeps may need the artifact."""
        raise StoreError(f"{self.url} does not let clients delete.")

    def _send(self, key: str, file: BinaryIO, size: int, name: str) -> None:
        ref = ArtifactRef(digest=_digest(key), size=size, name=name)

        def parts() -> Iterator[pb.UploadArtifactRequest]:
            yield pb.UploadArtifactRequest(artifact=artifact_message(ref))
            while chunk := file.read(CHUNK):
                yield pb.UploadArtifactRequest(chunk=chunk)

        with calls(self._address):
            self._stub.UploadArtifact(parts())


def receive(parts: Iterable[Part], out: Path) -> ArtifactRef:
    """Write an artifact that arrives as what it is and then its bytes: a file to ``out``, a folder's content into it.

    Raises:
        CorruptArtifactError: if what arrived is not what was announced; nothing is written.
    """
    arriving = iter(parts)
    ref = artifact_ref(next(arriving).artifact)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=out.parent, prefix=".arriving-") as file:
        for part in arriving:
            file.write(part.chunk)
        file.flush()
        if digest_file(Path(file.name)) != ref.digest:
            raise CorruptArtifactError(f"{ref.name} did not arrive whole and was refused. Fetch it again.")
        if ref.packing == "tar":
            with tarfile.open(file.name) as tar:
                tar.extractall(out, filter="data")
        else:
            shutil.copyfile(file.name, out)
    return ref


def _digest(key: str) -> str:
    digest = key.rpartition("/")[2]
    if key != blob_key(digest):
        raise StoreError(f"A gateway gives and takes artifacts alone, not the object {key}.")
    return digest
