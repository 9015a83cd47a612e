"""SweepService: studies in, reports out."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import grpc
from deltann.v1 import sweep_pb2 as pb
from deltann.v1 import sweep_pb2_grpc as rpc

from deltann.client.sweeps import sweep_message
from deltann.client.wire import artifact_message
from deltann.errors import NotFoundError
from deltann.store.base import ArtifactStore
from deltann.sweep import SweepBackend, SweepStatus
from deltann_gateway.access import CALLER
from deltann_gateway.admission import admit, read_study
from deltann_gateway.artifacts import chunks
from deltann_gateway.pages import SweepPages
from deltann_gateway.status import answering, streaming
from deltann_gateway.submissions import once
from deltann_gateway.tokens import Role
from deltann_gateway.watching import Looks

Context = grpc.aio.ServicerContext[Any, Any]
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
"""What may be the id of a sweep or conversion: it becomes part of keys of the store."""


class SweepServicer(rpc.SweepServiceServicer):
    """Calls the backend in threads: it waits for the store and for Redis.

    Args:
        backend: what sweeps are submitted to.
        store: where their records lie.
        trust_admins: whether an admin may submit models that run code.
    """

    def __init__(self, backend: SweepBackend, store: ArtifactStore, *, trust_admins: bool = False) -> None:
        self._backend, self._store, self._trust_admins = backend, store, trust_admins
        self._pages = SweepPages(store)
        self.looks = Looks(self._status, over=lambda status: status.ended)

    @answering
    async def SubmitSweep(self, request: pb.SubmitSweepRequest, context: Context) -> pb.SubmitSweepResponse:  # noqa: N802
        """Validate, admit and submit a study."""
        caller = CALLER.get()
        trust = self._trust_admins and caller.role is Role.ADMIN

        def submit() -> str:
            study = read_study(request.study)
            admit(study, self._store, trust=trust)
            return once(self._store, caller.name, request, lambda: self._backend.submit(study))

        return pb.SubmitSweepResponse(id=await asyncio.to_thread(submit))

    @answering
    async def GetSweep(self, request: pb.GetSweepRequest, context: Context) -> pb.GetSweepResponse:  # noqa: N802
        """How far a sweep is."""
        return pb.GetSweepResponse(sweep=sweep_message(await asyncio.to_thread(self._status, request.id)))

    @answering
    async def ListSweeps(self, request: pb.ListSweepsRequest, context: Context) -> pb.ListSweepsResponse:  # noqa: N802
        """A page of the sweeps."""

        def look() -> pb.ListSweepsResponse:
            ids, following = self._pages.page(request.page_size, request.page_token)
            found = map(sweep_message, map(self._backend.status, ids))
            return pb.ListSweepsResponse(sweeps=found, next_page_token=following)

        return await asyncio.to_thread(look)

    @streaming
    async def WatchSweep(  # noqa: N802
        self, request: pb.WatchSweepRequest, context: Context
    ) -> AsyncIterator[pb.WatchSweepResponse]:
        """Its status, at every change."""
        async for status in self.looks.watch(request.id):
            yield pb.WatchSweepResponse(sweep=sweep_message(status))

    @answering
    async def CancelSweep(self, request: pb.CancelSweepRequest, context: Context) -> pb.CancelSweepResponse:  # noqa: N802
        """Stop a sweep."""
        await asyncio.to_thread(self._status, request.id)
        await asyncio.to_thread(self._backend.cancel, request.id)
        return pb.CancelSweepResponse()

    @streaming
    async def FetchReport(  # noqa: N802
        self, request: pb.FetchReportRequest, context: Context
    ) -> AsyncIterator[pb.FetchReportResponse]:
        """What the report is, then its bytes."""
        status = await asyncio.to_thread(self._status, request.id)
        if status.report is None:
            why = f"it is {status.state}. {status.error or 'Wait until it is done.'}"
            raise NotFoundError(f"The sweep {request.id} has no report: {why}")
        yield pb.FetchReportResponse(artifact=artifact_message(status.report))
        async for chunk in chunks(self._store, status.report):
            yield pb.FetchReportResponse(chunk=chunk)

    def _status(self, sid: str) -> SweepStatus:
        if not ID.fullmatch(sid):
            raise NotFoundError(f"There is no sweep {sid!r}; `deltann sweep list` names those there are.")
        return self._backend.status(sid)
