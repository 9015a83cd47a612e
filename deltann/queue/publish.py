"""Putting job messages into queues, and looking at what is in them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable

import redis
from pydantic_core import to_json

from deltann import tracing
from deltann.errors import QueueError
from deltann.job import JobMessage
from deltann.kinds.queues import POOL_QUEUE
from deltann.queue import names
from deltann.queue.app import PRIORITIES, SEPARATOR, TASK, make_app
from deltann.queue.connection import connect, explained

_BATCH = 500


class Publisher:
    """Sends jobs to their queues over one connection. Not for use by several threads at once.

    Every method raises :class:`deltann.errors.QueueError` when Redis is not there.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._app = make_app(url)
        self._redis = connect(url)

    def send(self, messages: Iterable[JobMessage], priority: int = 3) -> int:
        """Publish messages in batches; how many there were.

        Args:
            messages: each goes to its ``queue``.
            priority: 0 (first) to 9 (last).
        """
        count = 0
        pools: set[str] = set()
        with explained(self.url):
            self._redis.ping()  # kombu would try for seconds
        with explained(self.url), self._app.producer_or_acquire() as producer, producer.batch(max_size=_BATCH):
            for message in messages:
                body = message.model_dump(mode="json", exclude_defaults=True)
                if len(to_json(body)) > names.MAX_MESSAGE:
                    body["job"] = None  # the worker reads it from the plan
                self._app.send_task(
                    TASK,
                    args=[body],
                    task_id=names.task_id(message.sweep, message.index),
                    queue=message.queue,
                    priority=priority,
                    argsrepr="",  # Celery would put the whole message into its headers once more, for its own log
                    kwargsrepr="",
                    headers={"sent": time.time(), **tracing.headers(message.sweep)},
                    producer=producer,
                    retry=False,
                )
                count += 1
                if message.queue.startswith(POOL_QUEUE):
                    pools.add(message.queue.removeprefix(POOL_QUEUE))
        if pools:
            with explained(self.url):
                self._redis.sadd(names.POOLS, *pools)
        return count

    def depth(self, queue: str) -> int:
        """Messages waiting in a queue, over all its priorities."""
        with explained(self.url):
            return depth(self._redis, queue)

    def queued(self, queue: str) -> set[str]:
        """The task ids that wait in a queue."""
        found: set[str] = set()
        with explained(self.url):
            for name in lists_of(queue):
                for text in self._redis.lrange(name, 0, -1):
                    try:
                        found.add(json.loads(text)["headers"]["id"])
                    except (ValueError, KeyError, TypeError) as error:
                        raise QueueError(
                            f"The queue {queue} holds a message that is not DeltaNN's: {text[:80]!r}"
                        ) from error
        return found

    def purge(self, queue: str) -> None:
        """Throw away what waits in a queue."""
        with explained(self.url):
            self._redis.delete(*lists_of(queue))

    def close(self) -> None:
        """Close the connections."""
        self._app.close()
        self._redis.close()


def lists_of(queue: str) -> list[str]:
    """The Redis lists that make up a queue, most urgent first."""
    return [f"{queue}{SEPARATOR}{priority}" if priority else queue for priority in PRIORITIES]


def depth(client: redis.Redis, queue: str) -> int:
    """Messages waiting in a queue, over all its priorities."""
    pipe = client.pipeline(transaction=False)
    for name in lists_of(queue):
        pipe.llen(name)
    return sum(pipe.execute())
