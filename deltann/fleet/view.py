"""The fleet as it is at one moment: queues with what waits, pools with their workers, counters of what was done."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable, Mapping
from typing import cast

import redis
from pydantic import ValidationError

from deltann.base import Data
from deltann.errors import first_line
from deltann.fleet import stats
from deltann.fleet.pools import Pool
from deltann.fleet.record import WorkerRecord
from deltann.fleet.stats import Count
from deltann.kinds.queues import POOL_QUEUE, QUEUES
from deltann.queue import names
from deltann.queue.app import PRIORITIES
from deltann.queue.publish import lists_of

_log = logging.getLogger(__name__)
SERVICE_QUEUES = tuple(sorted({queue for queue in QUEUES.values() if queue != POOL_QUEUE}))


class QueueView(Data):
    """A queue: messages that wait by priority, and the age in seconds of the one that waits longest."""

    name: str
    depth: dict[int, int]
    oldest_s: float | None = None
    workers: int = 0
    busy: int = 0

    @property
    def waiting(self) -> int:
        """Messages of all priorities."""
        return sum(self.depth.values())

    @property
    def stranded(self) -> bool:
        """Whether jobs wait and nobody is there to take them."""
        return self.waiting > 0 and self.workers == 0


class PoolView(Data):
    """A device pool, as it is defined and as it is."""

    name: str
    queue: QueueView
    about: str = ""
    defined: bool = True


class FleetView(Data):
    """All of it. ``time`` is when it was seen, seconds since the epoch."""

    time: float
    pools: tuple[PoolView, ...] = ()
    services: tuple[QueueView, ...] = ()
    workers: tuple[WorkerRecord, ...] = ()
    counts: tuple[Count, ...] = ()
    redis_used_bytes: int = 0
    redis_limit_bytes: int = 0

    @property
    def queues(self) -> tuple[QueueView, ...]:
        """Every queue: the services', then the pools'."""
        return (*self.services, *(pool.queue for pool in self.pools))

    @property
    def jobs_done(self) -> int:
        """Jobs settled since Redis began to count."""
        return sum(count.jobs for count in self.counts)


def observe(client: redis.Redis, pools: Mapping[str, Pool] | None = None) -> FleetView:
    """Look at the fleet through its Redis.

    Args:
        client: Redis, text in and out.
        pools: those that are defined; a pool with workers or waiting jobs is shown without that, too.

    Raises:
        redis.RedisError: if Redis is not there.
    """
    now = time.time()
    workers = read_workers(client)
    defined = dict(pools or {})
    sent_to = cast(set[str], client.smembers(names.POOLS))
    every = sorted(defined.keys() | sent_to | {worker.pool for worker in workers if worker.pool})
    services = sorted({*SERVICE_QUEUES, *(worker.queue for worker in workers if not worker.pool)})
    queues = {name: _queue(client, name, workers, now) for name in (*services, *(POOL_QUEUE + pool for pool in every))}
    memory = client.info("memory")
    return FleetView(
        time=now,
        services=tuple(queues[name] for name in services),
        pools=tuple(
            PoolView(
                name=pool,
                queue=queues[POOL_QUEUE + pool],
                about=defined[pool].about if pool in defined else "",
                defined=pool in defined or not defined,
            )
            for pool in every
        ),
        workers=tuple(workers),
        counts=tuple(stats.read(client)),
        redis_used_bytes=int(memory["used_memory"]),
        redis_limit_bytes=int(memory["maxmemory"]),
    )


def read_workers(client: redis.Redis) -> list[WorkerRecord]:
    """The workers that are there, by queue, host and process."""
    keys = sorted(client.scan_iter(f"{names.WORKERS}*", count=1000))
    texts = cast(list[str | None], client.mget(keys) if keys else [])
    found = []
    for key, text in zip(keys, texts, strict=True):
        if text is None:  # expired since
            continue
        try:
            found.append(WorkerRecord.model_validate_json(text))
        except ValidationError as error:
            _log.warning(
                "the record %s cannot be read, it is of another version of DeltaNN: %s", key, first_line(error)
            )
    return sorted(found, key=lambda worker: (worker.queue, worker.host, worker.pid))


def rate(before: FleetView, after: FleetView) -> float | None:
    """Jobs settled per second between two looks; None where Redis began to count anew or no time has passed."""
    seconds = after.time - before.time
    jobs = after.jobs_done - before.jobs_done
    return None if seconds <= 0 or jobs < 0 else jobs / seconds


def _queue(client: redis.Redis, name: str, workers: Iterable[WorkerRecord], now: float) -> QueueView:
    pipe = client.pipeline(transaction=False)
    for key in lists_of(name):
        pipe.llen(key)
        pipe.lindex(key, -1)  # taken next, so the one that waits longest
    answers = pipe.execute()
    sent = [_sent(text) for text in answers[1::2] if text]
    here = [worker for worker in workers if worker.queue == name]
    return QueueView(
        name=name,
        depth=dict(zip(PRIORITIES, answers[0::2], strict=True)),
        oldest_s=max((now - moment for moment in sent if moment is not None), default=None),
        workers=len(here),
        busy=sum(worker.state == "busy" or bool(worker.job) for worker in here),
    )


def _sent(text: str) -> float | None:
    """When a message was sent; None for one of a version that did not say."""
    try:
        return float(json.loads(text)["headers"]["sent"])
    except (ValueError, KeyError, TypeError):
        return None
