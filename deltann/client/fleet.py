"""The fleet between :class:`deltann.fleet.FleetView` and its message."""

from __future__ import annotations

from typing import Any

from google.protobuf.json_format import MessageToDict

from deltann.fleet.device import DeviceInfo, Readings
from deltann.fleet.record import WorkerRecord
from deltann.fleet.stats import Count
from deltann.fleet.view import FleetView, PoolView, QueueView
from deltann.v1 import fleet_pb2 as pb

_PREFIX = "WORKER_STATE_"


def fleet_message(view: FleetView) -> pb.Fleet:
    """A view as it travels."""
    return pb.Fleet(
        time=view.time,
        services=map(_queue_message, view.services),
        pools=[
            pb.Pool(name=pool.name, about=pool.about, defined=pool.defined, queue=_queue_message(pool.queue))
            for pool in view.pools
        ],
        workers=map(_worker_message, view.workers),
        counts=[pb.JobCount(**count.model_dump()) for count in view.counts],
        redis_used_bytes=view.redis_used_bytes,
        redis_limit_bytes=view.redis_limit_bytes,
    )


def fleet_view(message: pb.Fleet) -> FleetView:
    """A view as it arrived."""
    return FleetView(
        time=message.time,
        services=tuple(map(_queue_view, message.services)),
        pools=tuple(
            PoolView(name=pool.name, about=pool.about, defined=pool.defined, queue=_queue_view(pool.queue))
            for pool in message.pools
        ),
        workers=tuple(map(_worker_record, message.workers)),
        counts=tuple(Count.model_validate(_plain(count)) for count in message.counts),
        redis_used_bytes=message.redis_used_bytes,
        redis_limit_bytes=message.redis_limit_bytes,
    )


def _queue_message(queue: QueueView) -> pb.Queue:
    return pb.Queue(**queue.model_dump())


def _queue_view(message: pb.Queue) -> QueueView:
    return QueueView(
        name=message.name,
        depth=dict(message.depth),
        oldest_s=message.oldest_s if message.HasField("oldest_s") else None,
        workers=message.workers,
        busy=message.busy,
    )


def _worker_message(worker: WorkerRecord) -> pb.Worker:
    known = worker.model_dump(exclude={"state", "pool"})
    return pb.Worker(
        **known, id=worker.id, pool=worker.pool or "", state=pb.WorkerState.Value(_PREFIX + worker.state.upper())
    )


def _worker_record(message: pb.Worker) -> WorkerRecord:
    known = _plain(message)
    del known["id"]
    known["pool"] = known["pool"] or None
    known["state"] = known["state"].removeprefix(_PREFIX).lower()
    known["device"] = DeviceInfo.model_validate(_plain(message.device))
    known["now"] = Readings.model_validate(_plain(message.now))
    return WorkerRecord.model_validate(known)


def _plain(message: Any) -> dict[str, Any]:
    """A message as a dictionary; what is absent and may be is left out, what is empty is not."""
    return MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
