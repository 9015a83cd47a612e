"""Who may call what, over a real channel to a gateway with tokens."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from deltann_gateway.methods import ROLES
from deltann_gateway.server import SERVICES
from deltann_gateway.tokens import Role, Tokens, new_token
from google.protobuf import json_format
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from google.rpc.error_details_pb2 import ErrorInfo
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_status import rpc_status

from deltann.client import Credentials, GatewayClient
from deltann.errors import InputError, ModelError, NotFoundError
from deltann.store import LocalStore
from deltann.sweep import LocalBackend

from .conftest import NamedPlanner, Running, door, serving, study

NOWHERE = "redis://127.0.0.1:1/0"


@dataclass(frozen=True)
class Guarded:
    address: str
    tokens: dict[str, str]
    file: Path

    def call(self, method: str, metadata: tuple[tuple[str, str], ...] = (), request: bytes = b"") -> grpc.StatusCode:
        """The status of a raw call: what a client of any make gets."""
        with grpc.insecure_channel(self.address) as channel:
            responses = channel.stream_stream(method)(iter([request]), metadata=metadata, timeout=10)
            try:
                next(responses, None)
            except grpc.RpcError as error:
                return error.code()
            responses.cancel()
            return grpc.StatusCode.OK

    def bearer(self, role: str) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {self.tokens[role]}"),)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    home = tmp_path_factory.mktemp("guarded")
    made = {role: new_token(f"the-{role}", role) for role in ("read", "submit", "admin")}
    file = home / "tokens"
    file.write_text("\n".join(line for _, line in made.values()))
    store = LocalStore(home / "store")
    here = door(home / "uploads", tokens=Tokens(file))
    with serving(LocalBackend(store, NOWHERE, NamedPlanner()), store, NOWHERE, here) as address:
        yield Guarded(address, {role: token for role, (token, _) in made.items()}, file)


def methods_by_reflection(address: str, metadata: tuple[tuple[str, str], ...] = ()) -> set[str]:
    """Every method that a gateway itself says it has."""
    requests = reflection_pb2.ServerReflectionRequest
    found = set()
    with grpc.insecure_channel(address) as channel:
        ask = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo
        (answer,) = ask(iter([requests(list_services="")]), metadata=metadata)
        for service in answer.list_services_response.service:
            (answer,) = ask(iter([requests(file_containing_symbol=service.name)]), metadata=metadata)
            for data in answer.file_descriptor_response.file_descriptor_proto:
                file = FileDescriptorProto.FromString(data)
                for one in file.service:
                    found |= {f"/{file.package}.{one.name}/{method.name}" for method in one.method}
    return found


def test_every_method_declares_its_role(running: Running) -> None:
    found = methods_by_reflection(running.address)
    assert {name.split("/")[1] for name in found} >= {*SERVICES, "grpc.health.v1.Health"}
    assert found == set(ROLES)
    assert {method for method, role in ROLES.items() if role is None} == {
        f"/grpc.health.v1.Health/{name}" for name in ("Check", "List", "Watch")
    }


@pytest.mark.parametrize("method", sorted(name for name, role in ROLES.items() if role is not None))
def test_a_method_takes_its_role_and_those_above_and_no_other(guarded: Guarded, method: str) -> None:
    refused = {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED}
    assert guarded.call(method) is grpc.StatusCode.UNAUTHENTICATED
    for name in ("read", "submit", "admin"):
        found = guarded.call(method, guarded.bearer(name))
        role = ROLES[method]
        assert role is not None
        if Role[name.upper()] >= role:
            assert found not in refused
        else:
            assert found is grpc.StatusCode.PERMISSION_DENIED


@pytest.mark.parametrize(
    "header",
    [
        ("authorization", "Bearer "),
        ("authorization", "Bearer wrong"),
        ("authorization", "Basic {admin}"),
        ("authorization", "{admin}"),
        ("authorization", "Bearer {admin}x"),
        ("x-authorization", "Bearer {admin}"),
    ],
)
def test_what_is_no_token_is_nobody(guarded: Guarded, header: tuple[str, str]) -> None:
    metadata = ((header[0], header[1].format(admin=guarded.tokens["admin"])),)
    assert guarded.call("/deltann.v1.SweepService/ListSweeps", metadata) is grpc.StatusCode.UNAUTHENTICATED


def test_two_tokens_in_one_call_are_refused(guarded: Guarded) -> None:
    both = guarded.bearer("read") + guarded.bearer("admin")
    assert guarded.call("/deltann.v1.SweepService/ListSweeps", both) is grpc.StatusCode.UNAUTHENTICATED


def test_a_method_that_there_is_not_is_unimplemented(guarded: Guarded) -> None:
    assert guarded.call("/deltann.v1.SweepService/DropAll") is grpc.StatusCode.UNIMPLEMENTED


def test_health_needs_no_token(guarded: Guarded) -> None:
    with grpc.insecure_channel(guarded.address) as channel:
        answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_reflection_needs_read(guarded: Guarded) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        methods_by_reflection(guarded.address)
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert methods_by_reflection(guarded.address, guarded.bearer("read")) == set(ROLES)


def test_a_refusal_says_what_to_do_and_carries_its_reason(guarded: Guarded) -> None:
    with grpc.insecure_channel(guarded.address) as channel, pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary("/deltann.v1.SweepService/CancelSweep")(b"", metadata=guarded.bearer("read"))
    assert "needs the role submit, and the token of the-read has read" in caught.value.details()
    status = rpc_status.from_call(caught.value)
    info = ErrorInfo()
    status.details[0].Unpack(info)
    assert (info.reason, info.domain) == ("PERMISSION_DENIED", "deltann")


def test_the_client_shows_its_token_and_says_what_is_wrong_with_it(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with GatewayClient(guarded.address, Credentials()) as client, pytest.raises(InputError, match="DELTANN_TOKEN"):
        client.list_sweeps()
    with GatewayClient(guarded.address, Credentials(token="x")) as client, pytest.raises(InputError, match="none of"):
        client.list_sweeps()
    monkeypatch.setenv("DELTANN_TOKEN", guarded.tokens["read"])
    with GatewayClient(guarded.address) as client:
        assert client.list_sweeps() == []
        assert client.store.get("blobs/00/" + "0" * 64) is None
        with pytest.raises(NotFoundError, match="no sweep"):
            list(client.watch("none"))
        with pytest.raises(InputError, match="needs the role submit"):
            client.store.put_bytes(b"x", "x")
    monkeypatch.setenv("DELTANN_TOKEN", guarded.tokens["submit"])
    with GatewayClient(guarded.address) as client:
        assert client.store.read(client.store.put_bytes(b"x", "x")) == b"x"


def test_a_token_that_is_taken_back_is_refused_at_once(guarded: Guarded, tmp_path: Path) -> None:
    token, line = new_token("guest", "read")
    before = guarded.file.read_text()
    guarded.file.write_text(f"{before}\n{line}")
    guest = (("authorization", f"Bearer {token}"),)
    assert guarded.call("/deltann.v1.SweepService/ListSweeps", guest) is grpc.StatusCode.OK
    guarded.file.write_text(before)
    assert guarded.call("/deltann.v1.SweepService/ListSweeps", guest) is grpc.StatusCode.UNAUTHENTICATED


def test_tokens_are_never_logged(guarded: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for name in ("read", "admin"):
            for method in ROLES:
                guarded.call(method, guarded.bearer(name))
        guarded.call("/deltann.v1.SweepService/ListSweeps", (("authorization", "Bearer mistyped-token"),))
    assert "the-read has the role read" in caplog.text
    assert "mistyped-token" not in caplog.text
    assert not any(token in caplog.text for token in guarded.tokens.values())


@pytest.mark.parametrize("trust_admins", [True, False])
@pytest.mark.parametrize("role", ["submit", "admin"])
@pytest.mark.parametrize("trusted", [True, False])
def test_code_is_an_admins_alone_where_admins_are_trusted(
    running: Running, tmp_path: Path, guarded: Guarded, trust_admins: bool, role: str, trusted: bool
) -> None:
    stack = running.stack
    here = door(tmp_path / "uploads", tokens=Tokens(guarded.file), trust_admins=trust_admins)
    wanted = study(f"code-{trust_admins}-{role}-{trusted}".lower(), "package.module:function", trusted=trusted)
    with (
        serving(stack.backend, stack.store, stack.redis_url, here) as address,
        GatewayClient(address, Credentials(token=guarded.tokens[role])) as client,
    ):
        if trust_admins and role == "admin" and trusted:
            assert client.status(client.submit(wanted)).name == wanted.name
        else:
            with pytest.raises(ModelError, match="runs no client's code"):
                client.submit(wanted)


def test_a_client_that_knows_no_contract_calls_by_reflection(guarded: Guarded) -> None:
    """What ``grpcurl -d '{"page_size": 10}' … deltann.v1.SweepService/ListSweeps`` does."""
    pool, metadata = DescriptorPool(), guarded.bearer("read")
    with grpc.insecure_channel(guarded.address) as channel:
        ask = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo
        request = reflection_pb2.ServerReflectionRequest(file_containing_symbol="deltann.v1.SweepService")
        (answer,) = ask(iter([request]), metadata=metadata)
        files = map(FileDescriptorProto.FromString, answer.file_descriptor_response.file_descriptor_proto)
        for file in reversed(list({file.name: file for file in files}.values())):  # what is imported comes after
            pool.Add(file)
        method = pool.FindServiceByName("deltann.v1.SweepService").FindMethodByName("ListSweeps")
        asked = json_format.Parse('{"page_size": 10}', GetMessageClass(method.input_type)())
        call = channel.unary_unary(
            "/deltann.v1.SweepService/ListSweeps",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )
        assert json_format.MessageToDict(call(asked, metadata=metadata)) == {}
