"""A job in the hands of a worker: its lease, and the count of how often it was begun and its worker lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

import redis

from deltann.queue import names
from deltann.queue.leases import Lease


class Hold:
    """What a worker has of a job while it works on it.

    Args:
        client: Redis.
        graph: of the job.
        index: of the job.
    """

    def __init__(self, client: redis.Redis, graph: str, index: int) -> None:
        self._redis, self._graph, self._index = client, graph, index
        self._lease = Lease(client, names.lease(graph, index))
        self._counted = False
        self._lock = threading.Lock()

    def take(self, healthy: Callable[[], bool]) -> bool:
        """Take the job unless somebody has it, and keep it as long as ``healthy()``.

        Raises:
            redis.RedisError: if Redis is not there.
        """
        if not self._lease.take():
            return False
        self._redis.hincrby(names.attempts(self._graph), str(self._index), 1)
        self._counted = True
        self._lease.keep(healthy)
        return True

    def pardon(self) -> None:
        """Do not count this beginning: it is not the job that its worker fails or ends for."""
        with self._lock:
            counted, self._counted = self._counted, False
        if counted:
            with suppress(redis.RedisError):
                self._redis.hincrby(names.attempts(self._graph), str(self._index), -1)

    def release(self) -> None:
        """Let it go; without Redis, the lease expires."""
        with suppress(redis.RedisError):
            self._lease.release()
