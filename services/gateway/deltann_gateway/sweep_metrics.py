"""Metrics of sweeps: how many are in which state, and how far each goes that has not ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import cast, get_args

import redis
from prometheus_client.core import GaugeMetricFamily, Metric
from pydantic import ValidationError

from deltann.queue import names
from deltann.sweep import SweepState, SweepStatus

_WHERE = ("waiting", "queued", "running", "done")


def published(client: redis.Redis) -> list[SweepStatus]:
    """The statuses that the dispatcher keeps in Redis: of sweeps that run, and for a day of those that ended.

    Raises:
        redis.RedisError: if Redis is not there.
    """
    keys = sorted(client.scan_iter(names.status("*"), count=1000))
    texts = cast(list[str | None], client.mget(keys) if keys else [])
    found = []
    for text in texts:
        with suppress(ValidationError):  # of a dispatcher of another version
            found.append(SweepStatus.model_validate_json(text or ""))
    return found


def sweeps_of(statuses: Iterable[SweepStatus]) -> Iterator[Metric]:
    """The metrics of sweeps; those of single jobs end with their sweep, so that old sweeps leave no series."""
    every = list(statuses)
    states = Counter(status.state for status in every)
    number = GaugeMetricFamily("deltann_sweeps", "Sweeps that run, or ended within a day", labels=["state"])
    for state in get_args(SweepState):
        number.add_metric([state], states[state])
    started = GaugeMetricFamily(
        "deltann_sweep_started_timestamp_seconds", "When a running sweep was submitted", labels=("sweep", "name")
    )
    jobs = GaugeMetricFamily(
        "deltann_sweep_jobs", "Jobs of a running sweep by where they are", labels=("sweep", "name", "kind", "state")
    )
    outcomes = GaugeMetricFamily(
        "deltann_sweep_outcomes", "Its ended jobs by outcome", labels=("sweep", "name", "kind", "outcome")
    )
    for status in every:
        if status.ended:
            continue
        started.add_metric((status.id, status.name), status.started)
        for kind, counts in status.counts.items():
            labels = (status.id, status.name, kind)
            for where in _WHERE:
                jobs.add_metric((*labels, where), getattr(counts, where))
            for outcome, times in counts.outcomes.items():
                outcomes.add_metric((*labels, outcome), times)
    yield from (number, started, jobs, outcomes)
