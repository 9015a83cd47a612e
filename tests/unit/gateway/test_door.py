from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from deltann_gateway.door import Door, Tls, add_options, door_of, is_loopback
from deltann_gateway.tokens import Tokens, new_token

from deltann.errors import InputError

PUBLIC = ["0.0.0.0:1", "[::]:1", "10.0.0.7:1", "gateway.example:1", ":1", "127.0.0.1.example:1", "128.0.0.1:1"]
LOCAL = ["127.0.0.1:0", "127.8.9.1:1", "localhost:1", "[::1]:1", "unix:/run/x.sock"]
TLS = Tls(Path("cert"), Path("key"))


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    path = tmp_path / "tokens"
    path.write_text(new_token("a", "admin")[1])
    return Tokens(path)


@pytest.mark.parametrize("listen", PUBLIC)
def test_a_public_address_needs_tokens_and_tls(listen: str, tokens: Tokens) -> None:
    assert not is_loopback(listen)
    for given, missing in (
        ({}, "--tokens and --tls-cert are"),
        ({"tokens": tokens}, "--tls-cert is"),
        ({"tls": TLS}, "--tokens is"),
    ):
        with pytest.raises(InputError, match=missing):
            Door(listen, **given)  # type: ignore[arg-type]
    assert Door(listen, tokens=tokens, tls=TLS).listen == listen
    assert Door(listen, insecure=True).listen == listen


@pytest.mark.parametrize("listen", LOCAL)
def test_a_local_address_needs_nothing(listen: str) -> None:
    assert is_loopback(listen)
    assert Door(listen).tokens is None


def test_nobody_is_trusted_where_nobody_is_known() -> None:
    with pytest.raises(InputError, match="--trust-admins"):
        Door(trust_admins=True)


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser.parse_args(arguments)


def test_options_make_the_door(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(new_token("a", "admin")[1])
    door = door_of(
        options(
            *("--listen", "0.0.0.0:7", "--tokens", str(tmp_path / "tokens"), "--tls-cert", "c", "--tls-key", "k"),
            *("--client-ca", "ca", "--trust-admins", "--max-artifact-mb", "3", "--max-uploads", "2"),
        )
    )
    assert door.listen == "0.0.0.0:7"
    assert door.tls == Tls(Path("c"), Path("k"), Path("ca"))
    assert door.trust_admins
    assert (door.limits.artifact_bytes, door.limits.at_once) == (3_000_000, 2)


@pytest.mark.parametrize("given", [["--tls-cert", "c"], ["--tls-key", "k"], ["--client-ca", "ca"]])
def test_half_of_tls_is_refused(given: list[str]) -> None:
    with pytest.raises(InputError, match="together"):
        door_of(options(*given))


def test_the_environment_gives_what_options_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTANN_TLS_CERT", "c")
    monkeypatch.setenv("DELTANN_TLS_KEY", "k")
    monkeypatch.setenv("DELTANN_INSECURE", "1")
    door = door_of(options("--listen", "0.0.0.0:1"))
    assert (door.tls, door.insecure) == (Tls(Path("c"), Path("k")), True)


def test_a_file_that_is_not_there_is_named_with_its_option(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.key of --tls-key"):
        Tls(tmp_path / "none.pem", tmp_path / "none.key").credentials()
