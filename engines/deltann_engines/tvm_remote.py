"""Compiled TVM modules on a board that has no Python: uploaded to its TVM RPC server, run there on its processor.

A server serves one client at a time, so a job's session ends with the job's process. Whatever the connection does says
nothing about a model: it is a :class:`deltann.errors.WorkError`, after which the job is sent again. What the board
itself answers with is a finding.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from deltann.engines import EngineOptions
from deltann.errors import NotFoundError, WorkError, first_line
from deltann.fleet.board import RPC, Address, board_address, board_name, describe_board
from deltann.model import ModelInfo
from deltann_engines import placement, tvm_engine
from deltann_engines.base import Session

ANSWER_S = 20.0
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 30), (socket.TCP_KEEPINTVL, 10), (socket.TCP_KEEPCNT, 6))
"""A board that lost its power is noticed within a minute and a half, however long an inference may take."""
_NAME = "module.so"


class RemoteSession(Session):
    """A virtual machine on the board's CPU; the module holds its parameters."""

    def __init__(self, machine: Any, device: Any, info: ModelInfo, address: Address) -> None:
        self.info = info
        self._machine, self._cpu, self._address = machine, device, address
        self._clock = machine.time_evaluator("invoke_stateful", device, number=1, repeat=1)

    @property
    def device(self) -> str:
        """What its operator calls the board."""
        return board_name()

    @property
    def local(self) -> bool:
        """False: this process's cores and memory are not those of the inference."""
        return False

    def time(self, x: np.ndarray) -> int:
        """Nanoseconds on the board's own clock, without the network; TVM runs once before, outside the clock."""
        with _reaching(self._address):
            self._feed(x)
            return round(self._clock("main").results[0] * 1e9)

    def _run(self, x: np.ndarray) -> np.ndarray:
        with _reaching(self._address):
            self._feed(x)
            self._machine.invoke_stateful("main")
            first = self._machine.get_outputs("main")
            while not hasattr(first, "numpy"):
                first = first[0]
            array: np.ndarray = first.numpy()
            return array

    def _feed(self, x: np.ndarray) -> None:
        import tvm

        self._machine.set_input("main", tvm.runtime.tensor(x, self._cpu))


def prepare(threads: int, options: EngineOptions) -> None:
    """Import TVM; the board's threads are fixed when a module is loaded."""
    tvm_engine.prepare(1, options)


def load(path: Path, info: ModelInfo, threads: int, options: EngineOptions) -> Session:
    """Upload a module.so and load it there.

    Raises:
        WorkError: where the board does not answer.
        RuntimeError: where the file is truncated, on which a board's server would die.
        Exception: what the board answers.
    """
    address = board_address()
    if address is None:
        raise NotFoundError(f"No board is named: set {RPC} to the HOST:PORT of its TVM RPC server.")
    placement.check(path, describe_board(board_name()))
    prepare(threads, options)
    from tvm import rpc
    from tvm.runtime.vm import VirtualMachine

    greet(address)
    with _reaching(address):
        board = rpc.connect(*address)
        _keep_alive(address)
        board.get_function("runtime.config_threadpool")(1, threads)
        board.upload(str(path), target=_NAME)
        device = board.cpu(0)
        return RemoteSession(VirtualMachine(board.load_module(_NAME), device), device, info, address)


def greet(address: Address) -> None:
    """Make sure that a server answers, by a greeting with a key that is no server's: TVM would wait without end.

    Raises:
        WorkError: where none does.
    """
    from tvm.rpc import base

    key = b"client:deltann-greeting"
    try:
        with socket.create_connection(address, ANSWER_S) as link:
            link.sendall(struct.pack("<ii", base.RPC_MAGIC, len(key)) + key)
            answer = link.recv(4, socket.MSG_WAITALL)
    except TimeoutError as error:
        raise WorkError(
            f"The board's TVM RPC server at {address} does not answer within {ANSWER_S:g} s. The board is off, "
            "another client is connected, or a module that crashed has ended its service: start the server on the "
            "board again; one worker drives one board."
        ) from error
    except OSError as error:
        raise WorkError(
            f"The board's TVM RPC server at {address} is not there: {error.strerror or error}. "
            "Start it on the board, and look whether the address is right (--rpc)."
        ) from error
    if answer != struct.pack("<i", base.RPC_CODE_MISMATCH):
        raise WorkError(
            f"What answers at {address} is not a TVM RPC server. "
            "Give the address of the server on the board (--rpc HOST:PORT), not that of a tracker or proxy."
        )


def _keep_alive(address: Address) -> None:
    """Have the kernel look after this process's connections to the board."""
    for found in psutil.Process().net_connections("tcp"):
        if found.raddr and found.raddr.port == address.port:
            with socket.fromfd(found.fd, found.family, found.type) as link:
                link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                for option, seconds in _KEEPALIVE:
                    link.setsockopt(socket.IPPROTO_TCP, option, seconds)


@contextmanager
def _reaching(address: Address) -> Iterator[None]:
    """Tell a lost connection from what the board answers, which comes as an ``RPCError``."""
    from tvm.error import InternalError, RPCError

    try:
        yield
    except RPCError as error:
        raise RuntimeError(tvm_engine.explain(str(error))) from error
    except InternalError as error:
        raise WorkError(
            f"The connection to the board's TVM RPC server at {address} was lost: {first_line(error)}. "
            "Look whether the board has power and its server runs, and start it again; the job is sent again."
        ) from error
