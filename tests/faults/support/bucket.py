"""An S3 server that is killed and started again."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import s3


class Bucket:
    """An S3 server that can be killed and started again on its ports and data."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._ports = s3._free_ports(2 * len(s3._ROLES))
        self.start()

    def start(self) -> None:
        """Start the server, and return once it answers."""
        self._server, log = s3._start(self._folder, self._ports)
        assert s3._comes_up(f"http://127.0.0.1:{self._ports[0]}/healthz", self._server), log.read_text()[-2000:]

    def signal(self, number: int) -> None:
        """Send its processes a signal."""
        os.killpg(self._server.pid, number)
        if number == signal.SIGKILL:
            self._server.wait()

    @property
    def url(self) -> str:
        return f"s3://127.0.0.1:{self._ports[0]}/faults"
