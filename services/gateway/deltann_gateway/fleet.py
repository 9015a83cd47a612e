"""FleetService: queues, pools and workers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import grpc
from deltann.v1 import fleet_pb2 as pb
from deltann.v1 import fleet_pb2_grpc as rpc

from deltann.client.fleet import fleet_message
from deltann.errors import InputError
from deltann.fleet import FleetView, Pool, observe
from deltann.queue import connect
from deltann.queue.connection import explained
from deltann_gateway.status import answering, streaming

Context = grpc.aio.ServicerContext[Any, Any]
EVERY_S = 2.0
_SHORTEST_S, _LONGEST_S = 0.5, 60.0


class FleetServicer(rpc.FleetServiceServicer):
    """Looks at Redis in a thread, for each call anew.

    Args:
        redis_url: of the queue.
        pools: those that the operator has defined.
    """

    def __init__(self, redis_url: str, pools: Mapping[str, Pool]) -> None:
        self._url, self._pools = redis_url, pools
        self._redis = connect(redis_url)

    @answering
    async def GetFleet(self, request: pb.GetFleetRequest, context: Context) -> pb.GetFleetResponse:  # noqa: N802
        """The fleet now."""
        return pb.GetFleetResponse(fleet=fleet_message(await asyncio.to_thread(self._observe)))

    @streaming
    async def WatchFleet(  # noqa: N802
        self, request: pb.WatchFleetRequest, context: Context
    ) -> AsyncIterator[pb.WatchFleetResponse]:
        """The fleet now and again, until the client goes."""
        every = request.every_s or EVERY_S
        if not _SHORTEST_S <= every <= _LONGEST_S:
            raise InputError(f"every_s is {every:g}; it has to be {_SHORTEST_S:g} to {_LONGEST_S:g} seconds.")
        while True:
            yield pb.WatchFleetResponse(fleet=fleet_message(await asyncio.to_thread(self._observe)))
            await asyncio.sleep(every)

    def _observe(self) -> FleetView:
        with explained(self._url):
            return observe(self._redis, self._pools)
