"""SweepService: studies in, reports out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc

from deltann.client.sweeps import sweep_message
from deltann.client.wire import artifact_message
from deltann.errors import NotFoundError
from deltann.store.base import ArtifactStore
from deltann.sweep import SweepBackend, SweepStatus
from deltann.v1 import sweep_pb2 as pb
from deltann.v1 import sweep_pb2_grpc as rpc
from deltann_gateway.admission import admit, read_study
from deltann_gateway.artifacts import chunks
from deltann_gateway.status import answering, streaming

Context = grpc.aio.ServicerContext[Any, Any]
LOOK_S = 0.5
"""Between two looks at a sweep that is watched."""


class SweepServicer(rpc.SweepServiceServicer):
    """Calls the backend in threads: it waits for the store and for Redis."""

    def __init__(self, backend: SweepBackend, store: ArtifactStore) -> None:
        self._backend, self._store = backend, store

    @answering
    async def SubmitSweep(self, request: pb.SubmitSweepRequest, context: Context) -> pb.SubmitSweepResponse:  # noqa: N802
        """Validate, admit and submit a study."""

        def submit() -> str:
            study = read_study(request.study)
            admit(study, self._store)
            return self._backend.submit(study)

        return pb.SubmitSweepResponse(id=await asyncio.to_thread(submit))

    @answering
    async def GetSweep(self, request: pb.GetSweepRequest, context: Context) -> pb.GetSweepResponse:  # noqa: N802
        """How far a sweep is."""
        return pb.GetSweepResponse(sweep=sweep_message(await self._status(request.id)))

    @answering
    async def ListSweeps(self, request: pb.ListSweepsRequest, context: Context) -> pb.ListSweepsResponse:  # noqa: N802
        """All sweeps."""
        found = await asyncio.to_thread(self._backend.list_sweeps)
        return pb.ListSweepsResponse(sweeps=map(sweep_message, found))

    @streaming
    async def WatchSweep(  # noqa: N802
        self, request: pb.WatchSweepRequest, context: Context
    ) -> AsyncIterator[pb.WatchSweepResponse]:
        """Its status at every change, asked for anew each time: a client that is gone leaves no thread behind."""
        last: SweepStatus | None = None
        while last is None or not last.ended:
            status = await self._status(request.id)
            if status != last:
                yield pb.WatchSweepResponse(sweep=sweep_message(status))
            last = status
            if not status.ended:
                await asyncio.sleep(LOOK_S)

    @answering
    async def CancelSweep(self, request: pb.CancelSweepRequest, context: Context) -> pb.CancelSweepResponse:  # noqa: N802
        """Stop a sweep."""
        await self._status(request.id)
        await asyncio.to_thread(self._backend.cancel, request.id)
        return pb.CancelSweepResponse()

    @streaming
    async def FetchReport(  # noqa: N802
        self, request: pb.FetchReportRequest, context: Context
    ) -> AsyncIterator[pb.FetchReportResponse]:
        """What the report is, then its bytes."""
        status = await self._status(request.id)
        if status.report is None:
            why = f"it is {status.state}. {status.error or 'Wait until it is done.'}"
            raise NotFoundError(f"The sweep {request.id} has no report: {why}")
        yield pb.FetchReportResponse(artifact=artifact_message(status.report))
        async for chunk in chunks(self._store, status.report):
            yield pb.FetchReportResponse(chunk=chunk)

    async def _status(self, sid: str) -> SweepStatus:
        if not sid or "/" in sid:
            raise NotFoundError(f"There is no sweep {sid!r}; `deltann sweep list` names those there are.")
        return await asyncio.to_thread(self._backend.status, sid)
