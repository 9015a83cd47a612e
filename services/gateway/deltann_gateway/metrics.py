"""The fleet as Prometheus metrics, on an HTTP address of their own.

Gauges are read from Redis at each scrape; counters are those of :mod:`deltann.fleet.stats`, so that a gateway that is
started anew, or one of several, says the same. Redis that is not there is a metric too: ``deltann_redis_up`` 0.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Iterator, Mapping
from wsgiref.simple_server import WSGIServer

import redis
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from deltann import __version__
from deltann.errors import StackError
from deltann.fleet import FleetView, Pool, observe
from deltann.queue import connect
from deltann.store import ArtifactStore, LocalStore
from deltann.sweep import SweepStatus
from deltann_gateway.fleet_metrics import counts, queues, workers
from deltann_gateway.sweep_metrics import published, sweeps_of

log = logging.getLogger(__name__)


class FleetCollector(Collector):
    """Reads the fleet at each scrape.

    Args:
        redis_url: of the queue.
        pools: those that the operator has defined.
        store: whose disk is told, where it has one.
    """

    def __init__(self, redis_url: str, pools: Mapping[str, Pool], store: ArtifactStore | None = None) -> None:
        self._redis, self._pools, self._store = connect(redis_url), pools, store

    def collect(self) -> Iterator[Metric]:
        """Every metric there is."""
        yield InfoMetricFamily("deltann_build", "Version of this gateway", value={"version": __version__})
        yield from _disk(self._store)
        try:
            view, sweeps = observe(self._redis, self._pools), published(self._redis)
        except redis.RedisError as error:
            log.warning("Redis did not answer a scrape: %s", error)
            yield _up(answers=False)
            return
        yield _up(answers=True)
        yield from metrics_of(view, sweeps)


def metrics_of(view: FleetView, sweeps: Iterable[SweepStatus] = ()) -> Iterator[Metric]:
    """The metrics of one view of the fleet and of the sweeps that are told of in Redis."""
    yield from queues(view)
    yield from workers(view)
    yield from counts(view)
    yield from sweeps_of(sweeps)
    used = GaugeMetricFamily("deltann_redis_used_bytes", "Memory that Redis uses", value=view.redis_used_bytes)
    limit = GaugeMetricFamily("deltann_redis_limit_bytes", "Its limit; 0 is none", value=view.redis_limit_bytes)
    yield from (used, limit)


def _up(*, answers: bool) -> Metric:
    return GaugeMetricFamily("deltann_redis_up", "Whether the queue's Redis answers", value=answers)


def _disk(store: ArtifactStore | None) -> Iterator[Metric]:
    free = GaugeMetricFamily("deltann_store_disk_free_bytes", "Free space of the store's disk, where it is a folder")
    size = GaugeMetricFamily("deltann_store_disk_bytes", "Size of that disk")
    if isinstance(store, LocalStore):
        try:
            usage = shutil.disk_usage(store.root)
        except OSError as error:
            log.warning("The store's disk cannot be looked at: %s", error)
        else:
            free.add_metric((), usage.free)
            size.add_metric((), usage.total)
    yield from (free, size)


def serve_metrics(
    listen: str, redis_url: str, pools: Mapping[str, Pool], store: ArtifactStore | None = None
) -> WSGIServer:
    """Serve ``/metrics`` in a thread, until the server is shut down.

    Args:
        listen: ``HOST:PORT``; port 0 takes a free one.
        redis_url: of the queue.
        pools: those that the operator has defined.
        store: whose disk is told, where it has one.

    Raises:
        StackError: if the address cannot be had.
    """
    host, _, port = listen.rpartition(":")
    registry = CollectorRegistry(auto_describe=False)
    registry.register(FleetCollector(redis_url, pools, store))
    try:
        server, _ = start_http_server(int(port), host or "127.0.0.1", registry)
    except (OSError, OverflowError, ValueError) as error:  # Overflow: of the port
        raise StackError(
            f"Metrics cannot be served on {listen}: {error}. Name another address with --metrics HOST:PORT."
        ) from error
    return server
