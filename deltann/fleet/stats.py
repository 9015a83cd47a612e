"""Counters of what was done, kept in one Redis hash that workers add to. Lost with Redis, they begin at zero again."""

from __future__ import annotations

import redis

from deltann.base import Data
from deltann.queue import names

_SEPARATOR = "|"


class Count(Data):
    """Jobs of one kind that ended one way in one queue, and the seconds that they took."""

    queue: str
    kind: str
    outcome: str
    reused: bool
    jobs: int = 0
    seconds: float = 0.0


def add(pipe: redis.client.Pipeline, queue: str, kind: str, outcome: str, *, reused: bool, seconds: float) -> None:
    """Count a settled job; the caller executes the pipeline.

    Args:
        pipe: a Redis pipeline.
        queue: that it came from.
        kind: job kind.
        outcome: how it ended.
        reused: whether its result was there before.
        seconds: from its start to its done record.
    """
    field = _SEPARATOR.join((queue, kind, outcome, str(int(reused))))
    pipe.hincrby(names.STATS_JOBS, field, 1)
    pipe.hincrbyfloat(names.STATS_SECONDS, field, seconds)


def read(client: redis.Redis) -> list[Count]:
    """All counters, in order of queue, kind and outcome."""
    pipe = client.pipeline(transaction=True)
    pipe.hgetall(names.STATS_JOBS)
    pipe.hgetall(names.STATS_SECONDS)
    jobs, seconds = pipe.execute()
    counts = []
    for field, number in sorted(jobs.items()):
        queue, kind, outcome, reused = field.split(_SEPARATOR)
        counts.append(
            Count(
                queue=queue,
                kind=kind,
                outcome=outcome,
                reused=reused == "1",
                jobs=int(number),
                seconds=float(seconds.get(field, 0)),
            )
        )
    return counts
