"""ConversionService: one model, without a study. The dispatcher works on it as on a sweep that has no analysis."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any, cast, get_args

import grpc

from deltann.artifact import ArtifactRef
from deltann.client.conversions import ConversionState, ConversionStatus, ConversionStepStatus, conversion_message
from deltann.client.wire import artifact_message, artifact_ref
from deltann.digest import digest_value
from deltann.errors import InputError, NotFoundError
from deltann.job import JobResult, Plan
from deltann.kinds.convert import ConvertData
from deltann.model import Framework
from deltann.queue import connect, names
from deltann.queue.connection import explained
from deltann.store.base import ArtifactStore
from deltann.store.layout import (
    active_key,
    plan_key,
    read_all_done,
    read_plan,
    read_results,
    resolve_graph,
    sweep_key,
)
from deltann.sweep import SweepBackend
from deltann.sweep.model import Submitted
from deltann.v1 import conversion_pb2 as pb
from deltann.v1 import conversion_pb2_grpc as rpc
from deltann_gateway.access import CALLER
from deltann_gateway.artifacts import chunks
from deltann_gateway.conversion_plan import conversion_plan
from deltann_gateway.status import answering, streaming
from deltann_gateway.submissions import once
from deltann_gateway.sweeps import ID
from deltann_gateway.watching import Looks

Context = grpc.aio.ServicerContext[Any, Any]
PREFIX = "conversion-"


class ConversionServicer(rpc.ConversionServiceServicer):
    """Plans conversions and tells how they go."""

    def __init__(self, backend: SweepBackend, store: ArtifactStore, redis_url: str) -> None:
        self._backend, self._store, self._redis_url = backend, store, redis_url
        self.looks = Looks(self._status, over=lambda status: status.state != "running")

    @answering
    async def SubmitConversion(  # noqa: N802
        self, request: pb.SubmitConversionRequest, context: Context
    ) -> pb.SubmitConversionResponse:
        """Plan a conversion and have it begun."""
        caller = CALLER.get().name

        def submit() -> str:
            return once(self._store, caller, request, lambda: self._submit(request))

        return pb.SubmitConversionResponse(id=await asyncio.to_thread(submit))

    @answering
    async def GetConversion(  # noqa: N802
        self, request: pb.GetConversionRequest, context: Context
    ) -> pb.GetConversionResponse:
        """How far it is."""
        status = await asyncio.to_thread(self._status, request.id)
        return pb.GetConversionResponse(conversion=conversion_message(status))

    @streaming
    async def WatchConversion(  # noqa: N802
        self, request: pb.WatchConversionRequest, context: Context
    ) -> AsyncIterator[pb.WatchConversionResponse]:
        """How far it is, at every change."""
        async for status in self.looks.watch(request.id):
            yield pb.WatchConversionResponse(conversion=conversion_message(status))

    @streaming
    async def FetchConversion(  # noqa: N802
        self, request: pb.FetchConversionRequest, context: Context
    ) -> AsyncIterator[pb.FetchConversionResponse]:
        """What came out, then its bytes."""
        status = await asyncio.to_thread(self._status, request.id)
        if status.model is None:
            raise NotFoundError(
                f"The conversion {request.id} has no model: it is {status.state}. {status.error}".strip()
            )
        yield pb.FetchConversionResponse(artifact=artifact_message(status.model))
        async for chunk in chunks(self._store, status.model):
            yield pb.FetchConversionResponse(chunk=chunk)

    def _submit(self, request: pb.SubmitConversionRequest) -> str:
        model = artifact_ref(request.model)
        if not self._store.has(model.digest):
            raise NotFoundError(f"{model.name} ({model.digest[:12]}…) is not in the store. Upload it first.")
        source = _framework(request.source, "source") if request.source else None
        target = _framework(request.target, "target")
        plan = conversion_plan(model, target, source=source, tool=request.tool or None, raw=request.raw)
        cid = PREFIX + digest_value(plan)[:16]
        start_plan(self._store, self._redis_url, cid, f"{model.name} to {target}", plan)
        return cid

    def _status(self, cid: str) -> ConversionStatus:
        plan = read_plan(self._store, cid) if cid.startswith(PREFIX) and ID.fullmatch(cid) else None
        if plan is None:
            raise NotFoundError(f"There is no conversion {cid!r}.")
        ended = self._backend.status(cid)
        results = read_results(self._store, read_all_done(self._store, cid))
        return conversion_of(cid, plan, results, ended=ended.ended, error=ended.error)


def conversion_of(
    cid: str, plan: Plan, results: dict[int, JobResult], *, ended: bool, error: str | None = None
) -> ConversionStatus:
    """How far a conversion is, from the results there are."""
    failed = next((result for _, result in sorted(results.items()) if not result.outcome.usable), None)
    model: ArtifactRef | None = None
    last = results.get(len(plan.jobs) - 1)
    if failed is None and last is not None:
        model = last.artifacts.get("model")
    steps = tuple(
        ConversionStepStatus(
            **found.step.model_dump(include={"tool", "version", "source", "target", "seconds"}), parity=found.parity
        )
        for _, result in sorted(results.items())
        if result.kind == "convert" and result.outcome.usable
        for found in (ConvertData.model_validate(result.data),)
    )
    state: ConversionState = "running"
    if model is not None:
        state = "succeeded"
    elif failed is not None or ended:
        state = "failed"
    return ConversionStatus(
        id=cid,
        state=state,
        steps=steps,
        outcome=str(failed.outcome) if failed is not None else str(last.outcome) if last is not None else "",
        error=(failed.error.message if failed is not None and failed.error is not None else error) or "",
        model=model,
    )


def start_plan(store: ArtifactStore, redis_url: str, sid: str, name: str, plan: Plan) -> None:
    """Hand a plan that needs no resolving to the dispatcher; one that has ended is left alone.

    Raises:
        StoreError: if the store is not there.
        QueueError: if Redis is not there.
    """
    with explained(redis_url):
        client = connect(redis_url)
        client.ping()
        submitted = Submitted(name=name, time=time.time(), urgent=True)
        store.put_if_absent(sweep_key(sid, "submitted"), submitted.model_dump_json().encode())
        store.put_if_absent(plan_key(resolve_graph(sid)), Plan(jobs=()).model_dump_json().encode())
        store.put_if_absent(plan_key(sid), plan.model_dump_json().encode())
        if not store.exists(sweep_key(sid, "ended")):
            store.put(active_key(sid), b"")
            client.rpush(names.SETTLED, names.WAKE)
        client.close()


def _framework(name: str, field: str) -> Framework:
    if name not in get_args(Framework):
        raise InputError(f"{field}: {name!r} is no framework; there are {', '.join(get_args(Framework))}.")
    return cast(Framework, name)
