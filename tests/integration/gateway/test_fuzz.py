"""Whatever a client sends, it gets a status that a client can act on, and the gateway goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from deltann_gateway.server import SERVICES
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pool import Default
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deltann.client import GatewayClient

from .conftest import Running

OURS = {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.UNAVAILABLE}
"""Codes that put the blame on the gateway."""
METHODS = [
    method
    for service in SERVICES
    for method in Default().FindServiceByName(service).methods
    if method.name != "WatchFleet"  # never ends
]
TEXTS = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["..", ".", "/", "../../etc/passwd", "\0", "conversion-..", "a" * 300, "0" * 64, "{}", "[]", "é"]),
    st.sampled_from(["sweeps", "conversion-0000000000000000", "%2e%2e", "pytorch", "onnx", "m.onnx", "-1"]),
)
NUMBERS = st.sampled_from([0, 1, 2, 64, 501, 2**31 - 1])


def messages(descriptor: Descriptor) -> st.SearchStrategy[Message]:
    """Messages of a kind: each field there or not, with a value that is allowed and meant badly."""
    fields = {field.name: values(field) for field in descriptor.fields}
    made = GetMessageClass(descriptor)
    return st.fixed_dictionaries({}, optional=fields).map(lambda given: made(**one_of_each(descriptor, given)))


def one_of_each(descriptor: Descriptor, given: dict[str, Any]) -> dict[str, Any]:
    for choice in descriptor.oneofs:
        for field in [field.name for field in choice.fields if field.name in given][1:]:
            del given[field]
    return given


def values(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    kinds: dict[int, st.SearchStrategy[Any]] = {
        FieldDescriptor.CPPTYPE_STRING: st.binary(max_size=40) if field.type == FieldDescriptor.TYPE_BYTES else TEXTS,
        FieldDescriptor.CPPTYPE_UINT32: NUMBERS,
        FieldDescriptor.CPPTYPE_UINT64: st.one_of(NUMBERS, st.just(2**64 - 1)),
        FieldDescriptor.CPPTYPE_BOOL: st.booleans(),
        FieldDescriptor.CPPTYPE_ENUM: st.integers(-1, 9),
        FieldDescriptor.CPPTYPE_DOUBLE: st.floats(),
    }
    return messages(field.message_type) if field.message_type is not None else kinds[field.cpp_type]


@pytest.fixture(scope="module")
def channel(running: Running) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(running.address) as channel:
        yield channel


def code_of(channel: grpc.Channel, method: Any, requests: list[bytes]) -> grpc.StatusCode:
    call = channel.stream_stream(f"/{method.containing_service.full_name}/{method.name}")
    responses = call(iter(requests), timeout=20)
    try:
        for _ in responses:
            pass
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_any_message_is_answered_with_a_status_of_the_callers(
    channel: grpc.Channel, running: Running, method: Any
) -> None:
    many = st.lists(messages(method.input_type), min_size=1, max_size=4 if method.client_streaming else 1)

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(many)
    def fuzz(sent: list[Message]) -> None:
        found = code_of(channel, method, [message.SerializeToString() for message in sent])
        assert found not in OURS, sent
        assert found is not grpc.StatusCode.DEADLINE_EXCEEDED, sent

    fuzz()
    with GatewayClient(running.address) as client:
        assert client.store.read(client.store.put_bytes(b"still here", "x")) == b"still here"


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_bytes_leave_the_gateway_answering(channel: grpc.Channel, data: bytes) -> None:
    for method in METHODS[::3]:
        code_of(channel, method, [data])
    method = next(method for method in METHODS if method.name == "ListSweeps")
    assert code_of(channel, method, [b""]) is grpc.StatusCode.OK
