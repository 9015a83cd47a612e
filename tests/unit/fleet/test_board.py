import pytest

from deltann.errors import InputError
from deltann.fleet.board import NAME, RPC, board_address, board_name, describe_board, read_address


def test_an_address_is_a_host_and_a_port() -> None:
    assert read_address(" pi4.lab:9090 ") == ("pi4.lab", 9090)
    assert str(read_address("10.0.0.7:1")) == "10.0.0.7:1"


@pytest.mark.parametrize("text", ["", "pi4", "pi4:", ":9090", "pi4:0", "pi4:65536", "pi4:http", "pi4:-1"])
def test_what_is_no_address_is_answered_with_one(text: str) -> None:
    with pytest.raises(InputError, match="HOST:PORT, for example") as caught:
        read_address(text)
    assert "\n" not in str(caught.value)


def test_a_process_drives_a_board_where_its_environment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (RPC, NAME):
        monkeypatch.delenv(name, raising=False)
    assert board_address() is None
    monkeypatch.setenv(RPC, "pi4:9090")
    assert (board_address(), board_name()) == (("pi4", 9090), "board at pi4:9090")
    monkeypatch.setenv(NAME, "Raspberry Pi 4")
    assert board_name() == "Raspberry Pi 4"


def test_of_a_board_nothing_is_made_up() -> None:
    device = describe_board("Raspberry Pi 4")
    assert (device.board, device.cpu, device.arch, device.features) == ("Raspberry Pi 4", "Raspberry Pi 4", "", ())
