"""A job in the hands of a worker: its lease, and the count of how often it was begun and its worker lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

import redis

from deltann.queue import names
from deltann.queue.keeper import Keeper
from deltann.queue.leases import Lease


class Hold:
    """What a worker has of a job while it works on it.

    Args:
        client: Redis.
        keeper: of this worker.
        graph: of the job.
        index: of the job.
    """

    def __init__(self, client: redis.Redis, keeper: Keeper, graph: str, index: int) -> None:
        self._redis, self._keeper, self._graph, self._index = client, keeper, graph, index
        self._lease = Lease(client, names.lease(graph, index))
        self._taken = self._counted = False
        self._lock = threading.Lock()
        self.begun = 0
        """How often this job was begun and not pardoned, this time included."""

    def take(self, healthy: Callable[[], bool]) -> bool:
        """Take the job unless somebody has it, and keep it as long as ``healthy()``.

        Raises:
            redis.RedisError: if Redis is not there.
        """
        self.begun = self._lease.take_counted(names.attempts(self._graph), str(self._index))
        self._taken = self._counted = self.begun > 0
        if self._taken:
            self._keeper.keep(self._lease, healthy)
        return self._taken

    def pardon(self) -> None:
        """Do not count this beginning: it is not the job that its worker fails or ends for."""
        with self._lock:
            counted, self._counted = self._counted, False
        if counted:
            with suppress(redis.RedisError):
                self._redis.hincrby(names.attempts(self._graph), str(self._index), -1)

    def hand_over(self, pipe: redis.client.Pipeline) -> None:
        """Let it go, settled, when that pipeline is executed; should Redis not be there then, the lease expires."""
        self._stop_keeping()
        with self._lock:
            self._counted = False
        # What is settled is begun no more: else a large sweep would leave a count of every job in Redis.
        pipe.hdel(names.attempts(self._graph), str(self._index))
        self._lease.release(pipe)

    def release(self) -> None:
        """Let it go, unless it was handed over; without Redis, the lease expires."""
        if self._taken:
            self._stop_keeping()
            with suppress(redis.RedisError):
                self._lease.release()

    def _stop_keeping(self) -> None:
        self._taken = False
        self._keeper.drop()
