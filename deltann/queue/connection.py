"""Connections to Redis, by TCP or over a Unix socket, with errors that a person can act on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import redis
from kombu.exceptions import OperationalError
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from deltann.errors import QueueError
from deltann.logs import without_secrets
from deltann.queue.transport import NAME

_SOCKET_SCHEMES = ("unix://", "redis+socket://")


def celery_url(url: str) -> str:
    """The URL as Celery wants it: for a Unix socket with the name of the transport before it."""
    for scheme in _SOCKET_SCHEMES:
        if url.startswith(scheme):
            return f"{NAME}+socket://" + url.removeprefix(scheme)
    return url


def redis_url(url: str) -> str:
    """The URL as redis-py wants it: ``unix:///path`` for a Unix socket."""
    return url.replace("redis+socket://", "unix://", 1)


def connect(url: str) -> redis.Redis:
    """A client of that Redis, text in and out. It connects at the first command.

    Args:
        url: ``redis://HOST:PORT/DB``, ``rediss://``, ``unix:///path`` or ``redis+socket:///path``.
    """
    try:
        return redis.Redis.from_url(
            redis_url(url),
            decode_responses=True,
            socket_connect_timeout=3,
            socket_timeout=15,
            health_check_interval=15,
            # Whoever waits for Redis does so in a loop of its own.
            retry=Retry(ConstantBackoff(0.1), 1),
        )
    except ValueError as error:
        raise QueueError(f"{without_secrets(url)!r} is not the address of a Redis: {error}") from None


@contextmanager
def explained(url: str) -> Iterator[None]:
    """Turn what redis-py and kombu raise into one paragraph.

    Raises:
        QueueError: if Redis is not there or failed.
    """
    try:
        yield
    except (redis.RedisError, OperationalError, OSError) as error:
        raise QueueError(
            f"The queue's Redis at {without_secrets(url)} failed or is not there: {error}. "
            "Start it, or correct its address; what is computed already is kept, and the same command goes on."
        ) from error
