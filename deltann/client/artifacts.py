"""The gateway's artifacts as an artifact store: staging and fetching work on it as on any other."""

from __future__ import annotations

import hashlib
import io
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import grpc

from deltann.artifact import ArtifactRef
from deltann.client.channel import calls
from deltann.client.link import Link, Patience
from deltann.client.wire import CALL_S, CHUNK, artifact_message, artifact_ref
from deltann.errors import CorruptArtifactError, NotFoundError, StoreError
from deltann.store.base import ArtifactStore, blob_key
from deltann.store.packing import unpack
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

    def __init__(self, link: Link) -> None:
        self._link, self._address = link, link.address
        self._stub = ArtifactServiceStub(link.channel)

    @property
    def url(self) -> str:
        """``grpc://HOST:PORT``."""
        return f"grpc://{self._address}"

    def exists(self, key: str) -> bool:
        """Whether the gateway's store has the artifact."""
        request = pb.ArtifactExistsRequest(sha256=_digest(key))
        with calls(self._address):
            return self._link.call(lambda: self._stub.ArtifactExists(request, timeout=CALL_S)).exists

    def has(self, digest: str) -> bool:
        """Whether the gateway's store has the artifact, however it is stored there."""
        return self.exists(blob_key(digest))

    def copy(self, digest: str, file: BinaryIO) -> bool:
        """Copy an artifact's bytes into an open file: False where they are not there."""
        return self.download(blob_key(digest), file)

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
        """Receive an artifact into an open file; a download that breaks goes on where it was.

        Raises:
            CorruptArtifactError: if what arrived is not the artifact.
        """
        ref = ArtifactRef(digest=_digest(key), size=0, name="artifact")
        try:
            self._copy(ref, file)
        except NotFoundError:
            return False
        return True

    def receive(self, begin: Callable[[], Iterator[Part]], out: Path) -> ArtifactRef:
        """Write an artifact that comes as what it is, then its bytes: a file to ``out``, a folder's content into it.

        Args:
            begin: makes the call.
            out: where it goes.

        Raises:
            CorruptArtifactError: if what arrived is not what was announced; nothing is written.
        """
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=out.parent, prefix=".arriving-") as file:
            ref = self._copy(begin, cast(BinaryIO, file))
            file.flush()
            if ref.packing == "tar":
                unpack(Path(file.name), out)
            else:
                shutil.copyfile(file.name, out)
        return ref

    def _copy(self, source: ArtifactRef | Callable[[], Iterator[Part]], file: BinaryIO) -> ArtifactRef:
        known = [source] if isinstance(source, ArtifactRef) else []
        got, digest = 0, hashlib.sha256()

        def go_on() -> Iterator[Part]:
            return self._from(known[0], got) if isinstance(source, ArtifactRef) or known else source()

        with calls(self._address):
            for part in self._link.stream(go_on):
                if not known:
                    known.append(artifact_ref(part.artifact))
                    continue
                file.write(part.chunk)
                digest.update(part.chunk)
                got += len(part.chunk)
        if not known or digest.hexdigest() != known[0].digest:
            name = known[0].name if known else "The artifact"
            raise CorruptArtifactError(f"{name} did not arrive whole and was refused. Fetch it again.")
        return known[0]

    def _from(self, ref: ArtifactRef, offset: int) -> Iterator[Any]:
        request = pb.DownloadArtifactRequest(artifact=artifact_message(ref), offset=offset)
        return iter(self._stub.DownloadArtifact(request))

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
        named = artifact_message(ArtifactRef(digest=_digest(key), size=size, name=name))
        patience, arrived, complete = Patience(self._link), 0, False
        with calls(self._address):
            while not complete:
                try:
                    self._stub.UploadArtifact(_parts(named, file, arrived))
                    return
                except grpc.RpcError as error:
                    patience.bear(error)
                before, (arrived, complete) = arrived, self._arrived(named)
                if arrived > before:
                    patience.progress()

    def _arrived(self, named: pb.Artifact) -> tuple[int, bool]:
        request = pb.QueryUploadRequest(artifact=named)
        answer = self._link.call(lambda: self._stub.QueryUpload(request, timeout=CALL_S))
        return answer.received, answer.complete


def _parts(named: pb.Artifact, file: BinaryIO, offset: int) -> Iterator[pb.UploadArtifactRequest]:
    file.seek(offset)
    yield pb.UploadArtifactRequest(artifact=named, offset=offset)
    while chunk := file.read(CHUNK):
        yield pb.UploadArtifactRequest(chunk=chunk)


def _digest(key: str) -> str:
    digest = key.rpartition("/")[2]
    if key != blob_key(digest):
        raise StoreError(f"A gateway gives and takes artifacts alone, not the object {key}.")
    return digest
