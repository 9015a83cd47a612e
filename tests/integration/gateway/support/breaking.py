"""A way to a gateway that breaks: a TCP relay that cuts its connections after so many bytes."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress

_TAKEN_S = 2.0
"""A cut loses what the other end has not read yet: so long a busy one has for it."""


class Relay:
    """Relays ``127.0.0.1:port`` to an address. ``cuts`` are the bytes after which one connection after another is cut.

    Args:
        to: the address.
        upload: whether bytes to the address are counted, else those from it.
    """

    def __init__(self, to: str, *, upload: bool) -> None:
        self._upload = upload
        self.to(to)
        self.cuts: list[int] = []
        self.passed: list[int] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def to(self, address: str) -> None:
        """Relay there from the next connection on."""
        host, _, port = address.rpartition(":")
        self._to = (host, int(port))

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                try:
                    far = socket.create_connection(self._to)
                except OSError:
                    near.close()
                    continue
                limit = self.cuts.pop(0) if self.cuts else None
                number = len(self.passed)
                self.passed.append(0)
                for source, sink, counted in ((near, far, self._upload), (far, near, not self._upload)):
                    arguments = (source, sink, limit if counted else None, number if counted else None)
                    threading.Thread(target=self._pump, args=arguments, daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, limit: int | None, number: int | None) -> None:
        passed = 0
        with suppress(OSError):
            while data := source.recv(65536):
                passed += len(data)
                if number is not None:
                    self.passed[number] = passed
                if limit is not None and passed > limit:
                    time.sleep(_TAKEN_S)
                    break
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
                end.close()
