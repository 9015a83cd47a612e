"""A connection that outlives its breaks: calls are made again and streams go on, for as long as there is hope."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import grpc

from deltann.client.channel import connect, reason_given, retry_after
from deltann.client.credentials import Credentials

PATIENCE_S = 120.0
"""A gateway that was there may be away so long."""
_FIRST_S, _LONGEST_S = 0.2, 5.0
_UNREACHED = "failed to connect"
"""How gRPC begins its details where there was no connection at all."""
T = TypeVar("T")


class Link:
    """A channel to a gateway.

    Args:
        address: ``HOST:PORT``.
        credentials: token and TLS; those of the environment where not given.
        patience_s: a gateway that was there may be away so long.
    """

    def __init__(self, address: str, credentials: Credentials | None = None, patience_s: float = PATIENCE_S) -> None:
        self.address = address
        self.channel = connect(address, credentials)
        self.patience_s = patience_s
        self.met = False

    def call(self, act: Callable[[], T]) -> T:
        """Do what may be done twice; again, where the connection broke or the gateway was started anew."""
        patience = Patience(self)
        while True:
            try:
                answer = act()
            except grpc.RpcError as error:
                patience.bear(error)
            else:
                self.met = True
                return answer

    def stream(self, begin: Callable[[], Iterator[T]]) -> Iterator[T]:
        """What a stream gives. Where it breaks, ``begin`` is called again: it knows where to go on."""
        patience = Patience(self)
        while True:
            try:
                for response in begin():
                    patience.progress()
                    yield response
            except grpc.RpcError as error:
                patience.bear(error)
            else:
                return


class Patience:
    """How long one thing is tried: anew after each progress, else for the link's patience in all."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._began = False
        self._deadline: float | None = None
        self._delay = _FIRST_S

    def progress(self) -> None:
        """Something has arrived."""
        self._link.met = self._began = True
        self._deadline, self._delay = None, _FIRST_S

    def bear(self, error: grpc.RpcError) -> None:
        """Wait until it may be tried again, or raise what has no hope."""
        now = time.monotonic()
        self._deadline = self._deadline or now + self._link.patience_s
        delay = max(self._delay, retry_after(error) or 0.0)
        if not self._hopeful(error) or now + delay > self._deadline:
            raise error
        time.sleep(delay * random.uniform(0.8, 1.2))
        self._delay = min(self._delay * 2, _LONGEST_S)

    def _hopeful(self, error: grpc.RpcError) -> bool:
        if retry_after(error) is not None:
            return True
        if error.code() is grpc.StatusCode.CANCELLED:  # a gateway that goes down ends its streams so
            return self._began
        if error.code() is not grpc.StatusCode.UNAVAILABLE:
            return False
        if reason_given(error):  # it is there, and its store or queue is not: a stream that went may wait for that
            return self._began
        return self._link.met or _UNREACHED not in (error.details() or "")
