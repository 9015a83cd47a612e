"""TLS and mutual TLS against a real gateway."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from deltann_gateway.door import Tls
from deltann_gateway.main import check
from deltann_gateway.tokens import Tokens, new_token

from deltann.client import Credentials, GatewayClient
from deltann.errors import InputError, WorkError
from deltann.store import LocalStore
from deltann.sweep import LocalBackend

from .conftest import NamedPlanner, door, serving

NOWHERE = "redis://127.0.0.1:1/0"


class Authority:
    """A CA of its own, made by openssl."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        folder.mkdir(exist_ok=True)
        self._make(name)
        self.cert = folder / f"{name}.pem"

    def issue(self, name: str, *, to: str = "IP:127.0.0.1,DNS:localhost") -> tuple[Path, Path]:
        """A certificate and its key."""
        ca = self._folder / self._name
        more = ("-CA", f"{ca}.pem", "-CAkey", f"{ca}.key", "-addext", f"subjectAltName={to}")
        self._make(name, *more)
        return self._folder / f"{name}.pem", self._folder / f"{name}.key"

    def _make(self, name: str, *more: str) -> None:
        place = self._folder / name
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-days", "2", "-subj", f"/CN={name}", "-keyout", f"{place}.key", "-out", f"{place}.pem", *more]
        subprocess.run(command, check=True, capture_output=True)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def authority(home: Path) -> Authority:
    return Authority(home / "ca", "authority")


@pytest.fixture(scope="module")
def stranger(home: Path) -> Authority:
    return Authority(home / "stranger", "stranger")


@pytest.fixture(scope="module")
def token() -> tuple[str, str]:
    return new_token("ci", "submit")


def gateway(home: Path, token: tuple[str, str], tls: Tls) -> Iterator[str]:
    (home / "tokens").write_text(token[1])
    store = LocalStore(home / "store")
    here = door(home / "uploads", tokens=Tokens(home / "tokens"), tls=tls)
    with serving(LocalBackend(store, NOWHERE, NamedPlanner()), store, NOWHERE, here) as address:
        yield address


@pytest.fixture(scope="module")
def over_tls(home: Path, authority: Authority, token: tuple[str, str]) -> Iterator[str]:
    yield from gateway(home, token, Tls(*authority.issue("server")))


@pytest.fixture(scope="module")
def mutual(home: Path, authority: Authority, token: tuple[str, str]) -> Iterator[str]:
    yield from gateway(home, token, Tls(*authority.issue("mutual"), authority.cert))


def listed(address: str, credentials: Credentials) -> None:
    with GatewayClient(address, credentials, patience_s=2) as client:
        assert client.list_sweeps() == []


def test_a_client_that_knows_the_ca_is_served(over_tls: str, authority: Authority, token: tuple[str, str]) -> None:
    listed(over_tls, Credentials(token=token[0], ca=str(authority.cert)))
    with GatewayClient(over_tls, Credentials(token=token[0], ca=str(authority.cert))) as client:
        assert client.store.read(client.store.put_bytes(b"over TLS", "x")) == b"over TLS"


def test_tls_alone_opens_nothing(over_tls: str, authority: Authority) -> None:
    with pytest.raises(InputError, match="asks for a token"):
        listed(over_tls, Credentials(ca=str(authority.cert)))


def test_another_ca_or_none_is_not_trusted(over_tls: str, stranger: Authority, token: tuple[str, str]) -> None:
    for ca in (str(stranger.cert), "system", None):
        with pytest.raises(WorkError, match="DELTANN_CA"):
            listed(over_tls, Credentials(token=token[0], ca=ca))


def test_a_certificate_of_another_host_is_not_trusted(home: Path, authority: Authority, token: tuple[str, str]) -> None:
    elsewhere = Tls(*authority.issue("elsewhere", to="DNS:gateway.example"))
    for address in gateway(home, token, elsewhere):
        with pytest.raises(WorkError, match="DELTANN_CA"):
            listed(address, Credentials(token=token[0], ca=str(authority.cert)))


def test_mutual_tls_takes_clients_of_its_ca_alone(
    mutual: str, authority: Authority, stranger: Authority, token: tuple[str, str]
) -> None:
    known = Credentials(token=token[0], ca=str(authority.cert))
    cert, key = authority.issue("client")
    listed(mutual, Credentials(token=token[0], ca=known.ca, cert=cert, key=key))
    with pytest.raises(WorkError):
        listed(mutual, known)
    cert, key = stranger.issue("client")
    with pytest.raises(WorkError):
        listed(mutual, Credentials(token=token[0], ca=known.ca, cert=cert, key=key))


def test_the_health_check_goes_by_the_environment(
    mutual: str, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(WorkError):
        check(mutual)
    cert, key = authority.issue("probe")
    for name, value in (("CA", authority.cert), ("CERT", cert), ("KEY", key)):
        monkeypatch.setenv(f"DELTANN_{name}", str(value))
    check(mutual)


def test_files_that_are_no_certificate_are_told(home: Path, authority: Authority) -> None:
    cert, _ = authority.issue("one")
    _, other = authority.issue("two")
    (home / "garbage.pem").write_text("garbage")

    async def listen(tls: Tls) -> None:
        door(home / "uploads", tls=tls).bind(grpc.aio.server())

    for tls in (Tls(home / "garbage.pem", other), Tls(cert, home / "garbage.pem"), Tls(cert, other)):
        with pytest.raises(InputError, match="no certificate with its key"):
            asyncio.run(listen(tls))
