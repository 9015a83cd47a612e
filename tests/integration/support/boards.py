"""A board for the tests: TVM's RPC server on loopback."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import psutil
from deltann_engines.tvm_remote import greet
from stacks import until

from deltann.errors import WorkError
from deltann.fleet.board import Address


class Board:
    """A server process. Kill it in the end."""

    def __init__(self, folder: Path) -> None:
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            port = free.getsockname()[1]
        self.address = Address("127.0.0.1", port)
        command = [sys.executable, "-m", "tvm.exec.rpc_server", "--host", "127.0.0.1"]
        command += ["--port", str(port), "--port-end", str(port + 1)]
        with (folder / "server.log").open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        until(self._listens, 60)

    def _listens(self) -> bool:
        assert self._process.poll() is None
        with suppress(WorkError):
            greet(self.address)
            return True
        return False

    def kill(self) -> None:
        """End the server with the processes of its own: stopped alone, it leaves one that listens."""
        family = psutil.Process(self._process.pid).children(recursive=True) if self._process.poll() is None else []
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for one in family:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        self._process.wait()
