from __future__ import annotations

from pathlib import Path

import pytest

from deltann.client.channel import connect
from deltann.client.credentials import Credentials
from deltann.errors import InputError


def test_the_environment_says_all_of_it(tmp_path: Path) -> None:
    found = Credentials.from_environment(
        {"DELTANN_TOKEN": " secret\n", "DELTANN_CA": "ca.pem", "DELTANN_CERT": "c", "DELTANN_KEY": "k"}
    )
    assert found == Credentials(token="secret", ca="ca.pem", cert=Path("c"), key=Path("k"))
    assert Credentials.from_environment({}) == Credentials()
    (tmp_path / "token").write_text("from a file\n")
    assert Credentials.from_environment({"DELTANN_TOKEN_FILE": str(tmp_path / "token")}).token == "from a file"


def test_a_token_is_not_shown() -> None:
    assert "secret" not in repr(Credentials(token="secret"))


@pytest.mark.parametrize("host", ["10.0.0.7", "gateway.example", "0.0.0.0"])
def test_a_token_does_not_go_over_the_network_in_plain_text(host: str) -> None:
    with pytest.raises(InputError, match="plain text") as caught:
        connect(f"{host}:50051", Credentials(token="secret"))
    assert "secret" not in str(caught.value)
    connect(f"{host}:50051", Credentials(token="secret", insecure=True)).close()
    connect(f"{host}:50051", Credentials(token="secret", ca="system")).close()
    connect(f"{host}:50051", Credentials()).close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_a_token_may_stay_on_this_machine(host: str) -> None:
    connect(f"{host}:50051", Credentials(token="secret")).close()


@pytest.mark.parametrize(
    "given", [{"cert": Path("c")}, {"key": Path("k"), "ca": "system"}, {"cert": Path("c"), "key": Path("k")}]
)
def test_half_a_certificate_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(InputError, match="together"):
        connect("127.0.0.1:1", Credentials(**given))  # type: ignore[arg-type]


@pytest.mark.parametrize("variable", ["DELTANN_TOKEN_FILE", "DELTANN_CA"])
def test_a_file_that_is_not_there_is_named_with_its_variable(variable: str) -> None:
    with pytest.raises(InputError, match=f"/none/x, which {variable} names"):
        connect("127.0.0.1:1", Credentials.from_environment({variable: "/none/x"}))
