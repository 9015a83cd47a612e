"""The gRPC server: services, health, reflection and limits. What it serves is built by :mod:`deltann_gateway.main`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

import grpc
from deltann.v1 import (
    artifact_pb2,
    artifact_pb2_grpc,
    conversion_pb2,
    conversion_pb2_grpc,
    fleet_pb2,
    fleet_pb2_grpc,
    sweep_pb2,
    sweep_pb2_grpc,
)
from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection  # type: ignore[import-untyped]

from deltann.client.wire import MAX_MESSAGE
from deltann.fleet import Pool
from deltann.store.base import ArtifactStore
from deltann.sweep import SweepBackend
from deltann_gateway.access import Access
from deltann_gateway.artifacts import ArtifactServicer
from deltann_gateway.conversions import ConversionServicer
from deltann_gateway.door import Door
from deltann_gateway.fleet import FleetServicer
from deltann_gateway.sweeps import SweepServicer

log = logging.getLogger(__name__)

SERVICES = (
    artifact_pb2.DESCRIPTOR.services_by_name["ArtifactService"].full_name,
    conversion_pb2.DESCRIPTOR.services_by_name["ConversionService"].full_name,
    fleet_pb2.DESCRIPTOR.services_by_name["FleetService"].full_name,
    sweep_pb2.DESCRIPTOR.services_by_name["SweepService"].full_name,
)

_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_MESSAGE),
    ("grpc.max_send_message_length", MAX_MESSAGE),
    ("grpc.max_concurrent_streams", 256),
    # A client whose watch is quiet asks every minute whether we are there; gRPC's own limit is every five.
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 20_000),
    # One that has gone without a word is noticed, and its uploads are let go.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # Two gateways on one port would share its connections: the second is to fail, and to say so.
    ("grpc.so_reuseport", 0),
)
GRACE_S = 5.0
MAX_CALLS = 1024
"""At a time, of all clients together; more are refused (RESOURCE_EXHAUSTED)."""


class Server:
    """A gateway on one address.

    Args:
        backend: what sweeps are submitted to.
        store: where artifacts lie.
        redis_url: of the queue that conversions go to.
        door: where it listens, whom it lets in, and what.
        pools: those that the operator has defined.
    """

    def __init__(
        self,
        backend: SweepBackend,
        store: ArtifactStore,
        redis_url: str,
        door: Door,
        pools: Mapping[str, Pool],
    ) -> None:
        self._backend, self._store, self._redis_url, self._door = backend, store, redis_url, door
        self._pools = pools
        self.port = 0

    async def serve(self, stop: asyncio.Event, ready: Callable[[int], None] = lambda port: None) -> None:
        """Serve until ``stop``; then refuse what is new and give running calls five seconds.

        Raises:
            InputError: if certificate and key are none.
            StackError: if the address cannot be had.
        """
        server = grpc.aio.server(
            interceptors=[Access(self._door.tokens)], options=_OPTIONS, maximum_concurrent_rpcs=MAX_CALLS
        )
        artifact_pb2_grpc.add_ArtifactServiceServicer_to_server(
            ArtifactServicer(self._store, self._door.uploads, self._door.limits), server
        )
        sweeps = SweepServicer(self._backend, self._store, trust_admins=self._door.trust_admins)
        conversions = ConversionServicer(self._backend, self._store, self._redis_url)
        sweep_pb2_grpc.add_SweepServiceServicer_to_server(sweeps, server)
        conversion_pb2_grpc.add_ConversionServiceServicer_to_server(conversions, server)
        fleet_pb2_grpc.add_FleetServiceServicer_to_server(FleetServicer(self._redis_url, self._pools), server)
        healthy = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
        reflection.enable_server_reflection((*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
        self.port = self._door.bind(server)
        await server.start()
        for name in ("", *SERVICES):
            await healthy.set(name, health_pb2.HealthCheckResponse.SERVING)
        log.info("serving on %s:%d", self._door.listen.rpartition(":")[0], self.port)
        ready(self.port)
        try:
            await stop.wait()
        finally:
            await healthy.enter_graceful_shutdown()
            sweeps.looks.close()
            conversions.looks.close()
            await server.stop(GRACE_S)
