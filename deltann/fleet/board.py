"""A board that has no Python: a worker beside it drives it over TVM RPC. Its address, and what is known of it."""

from __future__ import annotations

import os
from typing import NamedTuple

from deltann.errors import InputError
from deltann.fleet.device import DeviceInfo

RPC = "DELTANN_RPC"
"""The variable by which a worker's children know that their device is such a board."""
NAME = "DELTANN_RPC_DEVICE"
"""The same for what the board is called in results."""
RUNTIMES = ("tvm",)
"""The engines that such a board has."""


class Address(NamedTuple):
    """Where a board's RPC server listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def read_address(text: str) -> Address:
    """The address in ``HOST:PORT``.

    Raises:
        InputError: if it is none.
    """
    host, _, port = text.strip().rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise InputError(
            f"The address of a board's TVM RPC server is HOST:PORT, for example 192.168.1.20:9090, not {text!r} "
            f"(--rpc, or {RPC})."
        )
    return Address(host, int(port))


def board_address() -> Address | None:
    """The board that this process drives; None where its device is its own host.

    Raises:
        InputError: if the variable holds no address.
    """
    text = os.environ.get(RPC)
    return read_address(text) if text else None


def board_name() -> str:
    """What the board that this process drives is called."""
    return os.environ.get(NAME) or f"board at {board_address()}"


def describe_board(name: str) -> DeviceInfo:
    """What is known of a board that is driven from afar: what its operator calls it."""
    return DeviceInfo(arch="", cpu=name, cores=0, memory_bytes=0, board=name)
