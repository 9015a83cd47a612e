"""The gRPC server: services, health, reflection and limits. What it serves is built by :mod:`deltann_gateway.main`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection  # type: ignore[import-untyped]

from deltann.client.wire import MAX_MESSAGE
from deltann.errors import StackError
from deltann.store.base import ArtifactStore
from deltann.sweep import SweepBackend
from deltann.v1 import artifact_pb2, artifact_pb2_grpc, conversion_pb2, conversion_pb2_grpc, sweep_pb2, sweep_pb2_grpc
from deltann_gateway.artifacts import ArtifactServicer
from deltann_gateway.conversions import ConversionServicer
from deltann_gateway.sweeps import SweepServicer

log = logging.getLogger(__name__)

SERVICES = (
    artifact_pb2.DESCRIPTOR.services_by_name["ArtifactService"].full_name,
    conversion_pb2.DESCRIPTOR.services_by_name["ConversionService"].full_name,
    sweep_pb2.DESCRIPTOR.services_by_name["SweepService"].full_name,
)

_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_MESSAGE),
    ("grpc.max_send_message_length", MAX_MESSAGE),
    ("grpc.max_concurrent_streams", 256),
    # Two gateways on one port would share its connections: the second is to fail, and to say so.
    ("grpc.so_reuseport", 0),
)
GRACE_S = 5.0


class Server:
    """A gateway on one address.

    Args:
        backend: what sweeps are submitted to.
        store: where artifacts lie.
        redis_url: of the queue that conversions go to.
        listen: ``HOST:PORT``; port 0 takes a free one.
        max_artifact_bytes: largest upload.
    """

    def __init__(
        self, backend: SweepBackend, store: ArtifactStore, redis_url: str, listen: str, max_artifact_bytes: int
    ) -> None:
        self._backend, self._store, self._redis_url, self._listen = backend, store, redis_url, listen
        self._max_artifact_bytes = max_artifact_bytes
        self.port = 0

    async def serve(self, stop: asyncio.Event, ready: Callable[[int], None] = lambda port: None) -> None:
        """Serve until ``stop``; then refuse what is new and give running calls five seconds.

        Raises:
            StackError: if the address cannot be had.
        """
        server = grpc.aio.server(options=_OPTIONS)
        artifact_pb2_grpc.add_ArtifactServiceServicer_to_server(
            ArtifactServicer(self._store, self._max_artifact_bytes), server
        )
        sweep_pb2_grpc.add_SweepServiceServicer_to_server(SweepServicer(self._backend, self._store), server)
        conversion_pb2_grpc.add_ConversionServiceServicer_to_server(
            ConversionServicer(self._backend, self._store, self._redis_url), server
        )
        healthy = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
        reflection.enable_server_reflection((*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
        try:
            self.port = server.add_insecure_port(self._listen)
        except RuntimeError as error:
            raise StackError(
                f"The gateway cannot listen on {self._listen}: {error}. Something else may be listening there; "
                "name another address with --listen."
            ) from error
        await server.start()
        for name in ("", *SERVICES):
            await healthy.set(name, health_pb2.HealthCheckResponse.SERVING)
        log.info("serving on %s:%d", self._listen.rpartition(":")[0], self.port)
        ready(self.port)
        try:
            await stop.wait()
        finally:
            await healthy.enter_graceful_shutdown()
            await server.stop(GRACE_S)
