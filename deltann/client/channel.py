"""The connection to a gateway, and its refusals as DeltaNN's own exceptions."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from grpc_status import rpc_status

from deltann.client.credentials import Credentials
from deltann.client.wire import MAX_MESSAGE, kind_of
from deltann.errors import DeltannError, InputError, NotFoundError, WorkError

_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_MESSAGE),
    ("grpc.max_send_message_length", MAX_MESSAGE),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_permit_without_calls", 0),
    # A gateway that was down is called again within seconds, not minutes.
    ("grpc.max_reconnect_backoff_ms", 5_000),
)
_REFUSED = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED,
)


def connect(address: str, credentials: Credentials | None = None) -> grpc.Channel:
    """A channel to ``HOST:PORT``.

    Args:
        address: of the gateway.
        credentials: token and TLS; those of the environment where not given.

    Raises:
        InputError: if the address is not one, or the credentials cannot be used there.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise InputError(f"A gateway is named by HOST:PORT, for example 127.0.0.1:50051, not {address!r}.")
    shown = Credentials.from_environment() if credentials is None else credentials
    shown.check(host)
    tls = shown.tls()
    if tls is None:
        channel = grpc.insecure_channel(address, options=_OPTIONS)
    else:
        channel = grpc.secure_channel(address, tls, options=_OPTIONS)
    return grpc.intercept_channel(channel, _Bearer(shown.token)) if shown.token else channel


_Details = namedtuple("_Details", ("method", "timeout", "metadata", "credentials", "wait_for_ready", "compression"))


class _Bearer(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
    grpc.StreamStreamClientInterceptor,
):
    """Sends the token with every call, over TLS or not: gRPC's own call credentials refuse plain text on loopback."""

    def __init__(self, token: str) -> None:
        self._entry = ("authorization", f"Bearer {token}")

    def _send(self, go_on: Callable[..., Any], details: Any, request: Any) -> Any:
        known = {name: getattr(details, name, None) for name in _Details._fields}
        known["metadata"] = (*(known["metadata"] or ()), self._entry)
        return go_on(_Details(**known), request)

    intercept_unary_unary = intercept_unary_stream = _send  # type: ignore[assignment]
    intercept_stream_unary = intercept_stream_stream = _send  # type: ignore[assignment]


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


def reason_given(error: grpc.RpcError) -> str:
    """Why the gateway itself refused a call; empty where gRPC gave up before it did."""
    info = _detail(error, ErrorInfo)
    return info.reason if info is not None else ""


def retry_after(error: grpc.RpcError) -> float | None:
    """After how many seconds the gateway wants the call again; None where it does not say."""
    info = _detail(error, RetryInfo)
    return None if info is None else float(info.retry_delay.ToTimedelta().total_seconds())


def _detail(error: grpc.RpcError, kind: Any) -> Any:
    try:
        status = rpc_status.from_call(error)
    except ValueError:  # of somebody else's making
        return None
    for packed in status.details if status is not None else ():
        if packed.Is(kind.DESCRIPTOR):
            found = kind()
            packed.Unpack(found)
            return found
    return None


def _ours(error: grpc.RpcError, address: str) -> DeltannError:
    code, details = error.code(), error.details() or ""
    kind = kind_of(reason_given(error))
    if kind is not None:
        return kind(details)
    if code is grpc.StatusCode.UNAVAILABLE:
        return WorkError(
            f"No gateway answers at {address} ({details}). Start one with `deltann stack up` or `deltann-gateway`, "
            "or name the right one with --gateway HOST:PORT. One that asks for TLS needs DELTANN_CA."
        )
    if code is grpc.StatusCode.NOT_FOUND:
        return NotFoundError(details)
    if code in _REFUSED:
        return InputError(f"The gateway at {address} refused: {details}")
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return WorkError(f"What answers at {address} is not a DeltaNN gateway of this version ({details}).")
    return WorkError(f"The gateway at {address} failed ({code.name}): {details}")
