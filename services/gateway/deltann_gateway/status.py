"""Exceptions as gRPC status codes: the message for the person travels as the status' details."""

from __future__ import annotations

import functools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

import grpc

from deltann.client.wire import ERROR_KEY
from deltann.errors import (
    CorruptArtifactError,
    DeltannError,
    InputError,
    NotFoundError,
    QueueError,
    StackError,
    StoreError,
)

log = logging.getLogger(__name__)

CODES: tuple[tuple[type[DeltannError], grpc.StatusCode], ...] = (
    (NotFoundError, grpc.StatusCode.NOT_FOUND),
    (InputError, grpc.StatusCode.INVALID_ARGUMENT),
    (CorruptArtifactError, grpc.StatusCode.DATA_LOSS),
    (StoreError, grpc.StatusCode.UNAVAILABLE),
    (QueueError, grpc.StatusCode.UNAVAILABLE),
    (StackError, grpc.StatusCode.UNAVAILABLE),
)
"""The first class that fits decides, so the narrower come first."""

Answer = TypeVar("Answer")
Method = Callable[[Any, Any, Any], Awaitable[Answer]]
StreamMethod = Callable[[Any, Any, Any], AsyncIterator[Answer]]


def code_of(error: Exception) -> grpc.StatusCode:
    """The status code of an exception; INTERNAL for what is none of ours."""
    return next((code for kind, code in CODES if isinstance(error, kind)), grpc.StatusCode.INTERNAL)


def answering(method: Method[Answer]) -> Method[Answer]:
    """Wrap a method with one response."""

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
            async for response in method(self, request, context):
                yield response
        except Exception as error:
            await _abort(error, method.__name__, context)

    return wrapped


async def _abort(error: Exception, method: str, context: Any) -> None:
    if isinstance(error, grpc.aio.AbortError):  # aborted already, with its own words
        raise error
    code = code_of(error)
    if isinstance(error, DeltannError):
        details = str(error)
    else:
        log.exception("%s failed", method)
        details = f"Something in the gateway itself went wrong ({type(error).__name__}); its log has the traceback."
    await context.abort(code, details, ((ERROR_KEY, type(error).__name__),))
