"""Says in Redis that this worker is there, what it is and what it does, for as long as it is."""

from __future__ import annotations

import time
from importlib.metadata import PackageNotFoundError

import redis

from deltann.fleet.board import RUNTIMES
from deltann.fleet.device import DeviceInfo, Readings, describe_device, read_now
from deltann.fleet.opencl import with_opencl
from deltann.fleet.record import WorkerRecord
from deltann.installed import installed
from deltann.job import WorkerInfo
from deltann.queue import names
from deltann.service import Service
from deltann.worker.activity import Activity
from deltann.worker.code import code_version

EVERY_S = 5.0
_EXPIRES_S = 20


class Registration:
    """The record of this worker.

    Args:
        client: Redis.
        service: that it works for.
        queue: that it listens on.
        worker: who it is.
        board: that it drives over RPC; its device is its own host where there is none.
    """

    def __init__(
        self, client: redis.Redis, service: Service, queue: str, worker: WorkerInfo, board: DeviceInfo | None = None
    ) -> None:
        self._redis = client
        self._board = board
        runtimes = runtimes_of(service)
        self.draining = False
        self.record = WorkerRecord(
            host=worker.host,
            pid=worker.pid or 0,
            service=service.name,
            queue=queue,
            pool=worker.pool,
            name=worker.device,
            code=code_version(service.kinds[0].handler),
            started=time.time(),
            seen=time.time(),
            runtimes=runtimes if board is None else {name: runtimes[name] for name in RUNTIMES if name in runtimes},
            device=board or _device(runtimes),
        )

    def say(self, activity: Activity) -> None:
        """Register, or say anew.

        Raises:
            redis.RedisError: if Redis is not there.
        """
        self.record = self.record.model_copy(
            update={
                "seen": time.time(),
                "state": "draining" if self.draining else "busy" if activity.job else "idle",
                "job": activity.job,
                "since": activity.since,
                "jobs_done": activity.jobs_done,
                "busy_seconds": activity.busy_seconds,
                "now": read_now() if self._board is None else Readings(),
            }
        )
        self._redis.set(names.WORKERS + self.record.id, self.record.model_dump_json(), ex=_EXPIRES_S)

    def leave(self) -> None:
        """Say that it is gone.

        Raises:
            redis.RedisError: if Redis is not there; then the record expires.
        """
        self._redis.delete(names.WORKERS + self.record.id)


def _device(runtimes: dict[str, str]) -> DeviceInfo:
    """This host's; where TVM runs modules, with the OpenCL devices that it has for them."""
    device = describe_device()
    return with_opencl(device) if "tvm" in runtimes else device


def runtimes_of(service: Service) -> dict[str, str]:
    """The engines of a service that are installed here, with the version of each."""
    found = {}
    for engine, distributions in service.runtimes.items():
        try:
            first, *_ = [installed(name) for name in distributions]
        except PackageNotFoundError:
            continue
        found[engine] = first
    return found
