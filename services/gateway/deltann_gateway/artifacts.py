"""ArtifactService: artifacts into the store and out of it."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import grpc

from deltann.artifact import ArtifactRef
from deltann.client.wire import CHUNK, artifact_message, artifact_ref
from deltann.digest import digest_file
from deltann.errors import CorruptArtifactError, InputError, NotFoundError
from deltann.store.base import ArtifactStore, blob_key
from deltann.v1 import artifact_pb2 as pb
from deltann.v1 import artifact_pb2_grpc as rpc
from deltann_gateway.status import answering, streaming

Context = grpc.aio.ServicerContext[Any, Any]


class ArtifactServicer(rpc.ArtifactServiceServicer):
    """Keeps an upload in a temporary file until its digest is known to be right."""

    def __init__(self, store: ArtifactStore, max_bytes: int) -> None:
        self._store = store
        self._max_bytes = max_bytes

    @answering
    async def UploadArtifact(  # noqa: N802
        self, request_iterator: AsyncIterator[pb.UploadArtifactRequest], context: Context
    ) -> pb.UploadArtifactResponse:
        """Store an artifact whose bytes match its digest; refuse any other."""
        first = await anext(aiter(request_iterator), None)
        if first is None or first.WhichOneof("part") != "artifact":
            raise InputError("An upload has to begin with a message that names the artifact; this one did not.")
        ref = artifact_ref(first.artifact)
        if ref.size > self._max_bytes:
            raise InputError(
                f"{ref.name} has {ref.size} bytes; this gateway takes at most {self._max_bytes} "
                "(its option --max-artifact-mb)."
            )
        with tempfile.NamedTemporaryFile(prefix="deltann-upload-") as file:
            got = 0
            async for part in request_iterator:
                got += len(part.chunk)
                if got > ref.size:
                    break
                file.write(part.chunk)
            file.flush()
            if got != ref.size or await asyncio.to_thread(digest_file, Path(file.name)) != ref.digest:
                raise CorruptArtifactError(
                    f"The bytes that arrived for {ref.name} are not the {ref.size} bytes that its SHA-256 "
                    f"{ref.digest[:12]}… names, and nothing was stored. Send it again."
                )
            await asyncio.to_thread(self._keep, ref, Path(file.name))
        return pb.UploadArtifactResponse(artifact=artifact_message(ref))

    def _keep(self, ref: ArtifactRef, path: Path) -> None:
        if not self._store.exists(blob_key(ref.digest)):
            self._store.upload(blob_key(ref.digest), path)

    @streaming
    async def DownloadArtifact(  # noqa: N802
        self, request: pb.DownloadArtifactRequest, context: Context
    ) -> AsyncIterator[pb.DownloadArtifactResponse]:
        """The verified bytes of an artifact."""
        async for chunk in chunks(self._store, artifact_ref(request.artifact)):
            yield pb.DownloadArtifactResponse(chunk=chunk)

    @answering
    async def ArtifactExists(  # noqa: N802
        self, request: pb.ArtifactExistsRequest, context: Context
    ) -> pb.ArtifactExistsResponse:
        """Whether the store has it."""
        if not re.fullmatch(r"[0-9a-f]{64}", request.sha256):
            raise InputError("sha256 has to be 64 lower-case hexadecimal digits.")
        return pb.ArtifactExistsResponse(exists=await asyncio.to_thread(self._store.exists, blob_key(request.sha256)))


async def chunks(store: ArtifactStore, ref: ArtifactRef) -> AsyncIterator[bytes]:
    """The bytes of a stored artifact, checked against its digest before the first is given.

    Raises:
        NotFoundError: if the store does not have it.
        CorruptArtifactError: if its bytes have another digest.
    """

    def copy(file: BinaryIO) -> None:
        if not store.download(blob_key(ref.digest), file):
            raise NotFoundError(f"The store has no artifact {ref.digest[:12]}… ({ref.name}).")
        file.flush()
        if digest_file(Path(file.name)) != ref.digest:
            store.read(ref)  # raises, with the store's own words

    with tempfile.NamedTemporaryFile(prefix="deltann-download-") as file:
        await asyncio.to_thread(copy, cast(BinaryIO, file))
        file.seek(0)
        while chunk := await asyncio.to_thread(file.read, CHUNK):
            yield chunk
