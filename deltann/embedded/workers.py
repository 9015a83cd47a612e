"""The workers of an embedded stack: of which services, and how many a host carries."""

from __future__ import annotations

import os
from collections.abc import Sequence

from deltann.base import Data

_MOST = 8
"""Workers of one service on one host, at most: each may take a few GiB of memory."""


class WorkerSpec(Data):
    """Workers of one service: how many, for which pool, with how many threads in a child."""

    service: str
    pool: str | None = None
    count: int = 1
    threads: int = 1
    device: str = ""


def default_workers(pools: Sequence[str] = ("cpu",), cores: int | None = None) -> tuple[WorkerSpec, ...]:
    """The workers that a host of so many cores carries: a compiler per core, a converter per two, eight at most.

    Conversions and compilations are single-threaded and most of a sweep's work. There is one executor per pool: its
    timings have the host to themselves, so that more on one host would only wait for each other. There is one trainer,
    with a queue of its own: no conversion waits for a training.
    """
    cores = cores or os.cpu_count() or 1
    converters = (WorkerSpec(service="converter"),) * max(1, min(cores // 2, _MOST))
    compilers = (WorkerSpec(service="compiler"),) * min(cores, _MOST)
    executors = tuple(WorkerSpec(service="executor", pool=pool) for pool in pools)
    return (*converters, *compilers, *executors, WorkerSpec(service="trainer"), WorkerSpec(service="analyzer"))
