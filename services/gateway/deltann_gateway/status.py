"""Exceptions as gRPC status codes with details of :mod:`google.rpc`, and the time that a call may take."""

from __future__ import annotations

import asyncio
import functools
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, TypeVar

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status

from deltann import logs
from deltann.client.wire import DOMAIN, reason_of
from deltann.errors import (
    CorruptArtifactError,
    DeltannError,
    InputError,
    NotFoundError,
    QueueError,
    SpecError,
    StackError,
    StoreError,
)
from deltann_gateway.refusals import ConflictError, LimitError, OffsetError, TakenError

log = logging.getLogger(__name__)

CALL_S = 60.0
"""A call that is no stream is given up after so long, whatever deadline its client has or has not set."""

CODES: tuple[tuple[type[DeltannError], grpc.StatusCode], ...] = (
    (NotFoundError, grpc.StatusCode.NOT_FOUND),
    (TakenError, grpc.StatusCode.ABORTED),
    (OffsetError, grpc.StatusCode.OUT_OF_RANGE),
    (LimitError, grpc.StatusCode.RESOURCE_EXHAUSTED),
    (ConflictError, grpc.StatusCode.ALREADY_EXISTS),
    (InputError, grpc.StatusCode.INVALID_ARGUMENT),
    (CorruptArtifactError, grpc.StatusCode.DATA_LOSS),
    (StoreError, grpc.StatusCode.UNAVAILABLE),
    (QueueError, grpc.StatusCode.UNAVAILABLE),
    (StackError, grpc.StatusCode.UNAVAILABLE),
)
"""The first class that fits decides, so the narrower come first."""

_FIELD = re.compile(r"(?:^|(?<=[.!?] ))([a-z_]+(?:\.\w+)*): (.*?)(?=[.!?] [a-z_]+(?:\.\w+)*: |$)", re.DOTALL)

Answer = TypeVar("Answer")
Method = Callable[[Any, Any, Any], Awaitable[Answer]]
StreamMethod = Callable[[Any, Any, Any], AsyncIterator[Answer]]


def code_of(error: Exception) -> grpc.StatusCode:
    """The status code of an exception; INTERNAL for what is none of ours."""
    return next((code for kind, code in CODES if isinstance(error, kind)), grpc.StatusCode.INTERNAL)


def details_of(error: DeltannError) -> list[Message]:
    """What a program can read of an exception: fields of a study that are wrong, and when to try again."""
    found: list[Message] = []
    if isinstance(error, SpecError) and (fields := _FIELD.findall(str(error))):
        violations = [BadRequest.FieldViolation(field=field, description=text) for field, text in fields]
        found.append(BadRequest(field_violations=violations))
    if isinstance(error, LimitError) and error.retry_s is not None:
        found.append(RetryInfo(retry_delay=Duration(nanos=int(error.retry_s % 1 * 1e9), seconds=int(error.retry_s))))
    return found


async def refuse(
    context: Any, code: grpc.StatusCode, message: str, reason: str, details: Iterable[Message] = ()
) -> None:
    """End a call with a status and its details; never returns."""
    status = Status(code=code.value[0], message=message)
    for detail in (ErrorInfo(reason=reason, domain=DOMAIN), *details):
        packed = AnyMessage()
        packed.Pack(detail)
        status.details.append(packed)
    rich = rpc_status.to_status(status)
    await context.abort(rich.code, rich.details, rich.trailing_metadata)


def answering(method: Method[Answer]) -> Method[Answer]:
    """Wrap a method with one request and one response: it is answered within :data:`CALL_S`."""

    @functools.wraps(method)
    async def wrapped(self: Any, request: Any, context: Any) -> Answer:
        try:
            async with asyncio.timeout(CALL_S) as bound:
                with logs.bound(sweep=_sweep_of(request)):
                    return await method(self, request, context)
        except Exception as error:
            if bound.expired():
                message = f"{method.__name__} took longer than {CALL_S:g} s and was given up. Try again later."
                await refuse(context, grpc.StatusCode.DEADLINE_EXCEEDED, message, "BOUND")
            await _abort(error, method.__name__, context)
            raise

    return wrapped


def receiving(method: Method[Answer]) -> Method[Answer]:
    """Wrap a method that takes a stream and has one response."""

    @functools.wraps(method)
    async def wrapped(self: Any, request: Any, context: Any) -> Answer:
        try:
            return await method(self, request, context)
        except Exception as error:
            await _abort(error, method.__name__, context)
            raise

    return wrapped


def streaming(method: StreamMethod[Answer]) -> StreamMethod[Answer]:
    """Wrap a method that streams responses."""

    @functools.wraps(method)
    async def wrapped(self: Any, request: Any, context: Any) -> AsyncIterator[Answer]:
        try:
            with logs.bound(sweep=_sweep_of(request)):
                async for response in method(self, request, context):
                    yield response
        except Exception as error:
            await _abort(error, method.__name__, context)

    return wrapped


def _sweep_of(request: Any) -> str | None:
    """The sweep or conversion that a call is about, where it names one."""
    found = getattr(request, "id", None)
    return found if isinstance(found, str) and found else None


async def _abort(error: Exception, method: str, context: Any) -> None:
    if isinstance(error, grpc.aio.AbortError):  # aborted already, with its own words
        raise error
    if isinstance(error, DeltannError):
        await refuse(context, code_of(error), str(error), reason_of(type(error)), details_of(error))
    log.exception("%s failed", method)
    message = f"Something in the gateway itself went wrong ({type(error).__name__}); its log has the traceback."
    await refuse(context, code_of(error), message, "INTERNAL")
