"""Leases: who works on a job. Taken if absent, expiring, renewed by whoever holds it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import redis

LEASE_S = 10
_NO_KEY = -2

_RENEW = """
local held = redis.call('get', KEYS[1])
if held == ARGV[1] then return redis.call('expire', KEYS[1], ARGV[2]) end
if not held then redis.call('set', KEYS[1], ARGV[1], 'EX', ARGV[2]) return 1 end
return 0
"""
_TAKE = """
if redis.call('set', KEYS[1], ARGV[1], 'NX', 'EX', ARGV[2]) then
  return KEYS[2] and math.max(1, redis.call('hincrby', KEYS[2], ARGV[3], 1)) or 1
end
if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('expire', KEYS[1], ARGV[2]) end
if redis.call('pttl', KEYS[1]) > 1000 * ARGV[2] then redis.call('expire', KEYS[1], ARGV[2]) end
return 0
"""
_RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"


class Lease:
    """A key that this process holds while it lives: for a worker's job, and for the active dispatcher.

    Args:
        client: a Redis client, safe to use from a second thread.
        key: the name of the lease.
        seconds: how long it stands without being renewed.
    """

    def __init__(self, client: redis.Redis, key: str, seconds: int = LEASE_S) -> None:
        self._client, self.key, self._seconds = client, key, seconds
        self._token = uuid.uuid4().hex

    def take(self) -> bool:
        """Take it unless somebody else holds it."""
        return bool(self._client.eval(_TAKE, 1, self.key, self._token, str(self._seconds)))

    def take_counted(self, key: str, field: str) -> int:
        """Take it unless somebody else holds it, and count that in the same step.

        Args:
            key: of a Redis hash.
            field: of that hash, which counts how often it was taken.

        Returns:
            The count, from 1 on; 0 where somebody else holds it.
        """
        given = (self.key, key, self._token, str(self._seconds), field)
        return int(self._client.eval(_TAKE, 2, *given))

    def renew(self) -> bool:
        """Hold it for another while; False where somebody else has it. One that had expired is taken again."""
        return bool(self._client.eval(_RENEW, 1, self.key, self._token, str(self._seconds)))

    def release(self, client: redis.Redis | None = None) -> None:
        """Give it up, if it is still ours.

        Args:
            client: a pipeline that shall do so when it is executed.
        """
        (self._client if client is None else client).eval(_RELEASE, 1, self.key, self._token)


def held(client: redis.Redis, keys: Sequence[str]) -> list[bool]:
    """Which of these leases somebody holds.

    One that stands for longer than any was ever given is of a time when the clock of Redis' host went ahead: it is cut
    to what it should be, so that the lease of a dead worker goes. Whoever lives renews it.
    """
    if not keys:
        return []
    with client.pipeline(transaction=False) as pipe:
        for key in keys:
            pipe.pttl(key)
        left = [int(milliseconds) for milliseconds in pipe.execute()]
        for key, milliseconds in zip(keys, left, strict=True):
            if milliseconds > 1000 * LEASE_S:
                pipe.expire(key, LEASE_S)
        pipe.execute()
    return [milliseconds != _NO_KEY for milliseconds in left]
