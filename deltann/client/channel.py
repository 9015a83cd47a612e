"""The connection to a gateway, and its refusals as DeltaNN's own exceptions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc

from deltann import errors
from deltann.client.wire import ERROR_KEY, MAX_MESSAGE
from deltann.errors import DeltannError, InputError, NotFoundError, WorkError

_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_MESSAGE),
    ("grpc.max_send_message_length", MAX_MESSAGE),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_permit_without_calls", 0),
)


def connect(address: str) -> grpc.Channel:
    """A channel to ``HOST:PORT``, without TLS: for loopback and private networks.

    Raises:
        InputError: if the address is not one.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise InputError(f"A gateway is named by HOST:PORT, for example 127.0.0.1:50051, not {address!r}.")
    return grpc.insecure_channel(address, options=_OPTIONS)


@contextmanager
def calls(address: str) -> Iterator[None]:
    """Turn what a call inside raises into one of :mod:`deltann.errors`.

    Raises:
        DeltannError: the gateway's own exception, or WorkError where none answers.
    """
    try:
        yield
    except grpc.RpcError as error:
        raise _ours(error, address) from error


def _ours(error: grpc.RpcError, address: str) -> DeltannError:
    code, details = error.code(), error.details() or ""
    # The stubs know single entries of the metadata, not that it is a sequence of them.
    trailing: Any = error.trailing_metadata()
    named = next((str(value) for key, value in trailing or () if key == ERROR_KEY), "")
    kind = getattr(errors, named, None)
    if isinstance(kind, type) and issubclass(kind, DeltannError) and kind is not errors.JobFailure:
        return kind(details)
    if code is grpc.StatusCode.UNAVAILABLE:
        return WorkError(
            f"No gateway answers at {address} ({details}). Start one with `deltann stack up` or `deltann-gateway`, "
            "or name the right one with --gateway HOST:PORT."
        )
    if code is grpc.StatusCode.NOT_FOUND:
        return NotFoundError(details)
    if code in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED):
        return InputError(f"The gateway at {address} refused: {details}")
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return WorkError(f"What answers at {address} is not a DeltaNN gateway of this version ({details}).")
    return WorkError(f"The gateway at {address} failed ({code.name}): {details}")
