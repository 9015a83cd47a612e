"""ArtifactService: artifacts into the store and out of it."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import grpc

from deltann.artifact import ArtifactRef
from deltann.client.wire import CHUNK, artifact_message, artifact_ref
from deltann.digest import digest_file
from deltann.errors import InputError, NotFoundError
from deltann.store.base import ArtifactStore, blob_key
from deltann.v1 import artifact_pb2 as pb
from deltann.v1 import artifact_pb2_grpc as rpc
from deltann_gateway.access import CALLER
from deltann_gateway.refusals import LimitError, OffsetError
from deltann_gateway.status import answering, receiving, streaming
from deltann_gateway.uploads import Spool, UploadLimits

Context = grpc.aio.ServicerContext[Any, Any]
_WAIT_S = 10.0
"""An upload waits so long for one of those that are under way to end."""


class ArtifactServicer(rpc.ArtifactServiceServicer):
    """Keeps an upload in a file of its own until its digest is known to be right.

    Args:
        store: where artifacts go.
        uploads: folder of those that are on their way.
        limits: of uploads.
    """

    def __init__(self, store: ArtifactStore, uploads: Path, limits: UploadLimits) -> None:
        self._store, self._limits = store, limits
        self._spool = Spool(uploads, limits)
        self._slots = asyncio.Semaphore(limits.at_once)

    @receiving
    async def UploadArtifact(  # noqa: N802
        self, request_iterator: AsyncIterator[pb.UploadArtifactRequest], context: Context
    ) -> pb.UploadArtifactResponse:
        """Store an artifact whose bytes match its digest; refuse any other."""
        parts = _unpaused(request_iterator, self._limits.idle_s)
        first = await anext(parts, None)
        if first is None or first.WhichOneof("part") != "artifact":
            raise InputError("An upload has to begin with a message that names the artifact; this one did not.")
        ref = self._admitted(first.artifact)
        if not await self._stored(ref):
            async with self._slot():
                with self._spool.open(CALLER.get().name, ref, first.offset) as partial:
                    async for part in parts:
                        partial.write(part.chunk)
                    await asyncio.to_thread(partial.verify)
                    await asyncio.to_thread(self._store.upload, blob_key(ref.digest), partial.path)
                    partial.discard()
        return pb.UploadArtifactResponse(artifact=artifact_message(ref))

    @answering
    async def QueryUpload(self, request: pb.QueryUploadRequest, context: Context) -> pb.QueryUploadResponse:  # noqa: N802
        """How much has arrived."""
        ref = self._admitted(request.artifact)
        if await self._stored(ref):
            return pb.QueryUploadResponse(received=ref.size, complete=True)
        received = await asyncio.to_thread(self._spool.received, CALLER.get().name, ref)
        return pb.QueryUploadResponse(received=received)

    @streaming
    async def DownloadArtifact(  # noqa: N802
        self, request: pb.DownloadArtifactRequest, context: Context
    ) -> AsyncIterator[pb.DownloadArtifactResponse]:
        """The verified bytes of an artifact."""
        async for chunk in chunks(self._store, artifact_ref(request.artifact), request.offset):
            yield pb.DownloadArtifactResponse(chunk=chunk)

    @answering
    async def ArtifactExists(  # noqa: N802
        self, request: pb.ArtifactExistsRequest, context: Context
    ) -> pb.ArtifactExistsResponse:
        """Whether the store has it."""
        if not re.fullmatch(r"[0-9a-f]{64}", request.sha256):
            raise InputError("sha256 has to be 64 lower-case hexadecimal digits.")
        return pb.ArtifactExistsResponse(exists=await asyncio.to_thread(self._store.has, request.sha256))

    def _admitted(self, message: pb.Artifact) -> ArtifactRef:
        ref, most = artifact_ref(message), self._limits.artifact_bytes
        if ref.size > most:
            raise LimitError(
                f"{ref.name} has {ref.size} bytes; this gateway takes at most {most} (its option --max-artifact-mb)."
            )
        return ref

    async def _stored(self, ref: ArtifactRef) -> bool:
        return await asyncio.to_thread(self._store.has, ref.digest)

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        try:
            await asyncio.wait_for(self._slots.acquire(), _WAIT_S)
        except TimeoutError:
            raise LimitError(
                f"This gateway takes {self._limits.at_once} uploads at a time, and there are as many. Try again.",
                retry_s=5.0,
            ) from None
        try:
            yield
        finally:
            self._slots.release()


async def _unpaused(
    parts: AsyncIterator[pb.UploadArtifactRequest], idle_s: float
) -> AsyncIterator[pb.UploadArtifactRequest]:
    arriving = aiter(parts)
    while True:
        try:
            yield await asyncio.wait_for(anext(arriving), idle_s)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise LimitError(
                f"Nothing arrived for {idle_s:g} s, so the upload was given up; what arrived is kept. Go on with it.",
                retry_s=0.0,
            ) from None


async def chunks(store: ArtifactStore, ref: ArtifactRef, offset: int = 0) -> AsyncIterator[bytes]:
    """The bytes of a stored artifact, checked against its digest before the first is given.

    Raises:
        NotFoundError: if the store does not have it.
        CorruptArtifactError: if its bytes have another digest.
        OffsetError: if it has fewer bytes than ``offset``.
    """

    def copy(file: BinaryIO) -> None:
        if not store.copy(ref.digest, file):
            raise NotFoundError(f"The store has no artifact {ref.digest[:12]}… ({ref.name}).")
        file.flush()
        if digest_file(Path(file.name)) != ref.digest:
            store.read(ref)  # raises, with the store's own words
        if offset > file.tell():
            raise OffsetError(f"{ref.name} has {file.tell()} bytes, so it cannot be gone on with at {offset}.")

    with tempfile.NamedTemporaryFile(prefix="deltann-download-") as file:
        await asyncio.to_thread(copy, cast(BinaryIO, file))
        file.seek(offset)
        while chunk := await asyncio.to_thread(file.read, CHUNK):
            yield chunk
