"""The fleet: what workers there are, on which devices, in which pools, and what waits for them."""

from deltann.fleet.device import DeviceInfo, Readings, describe_device
from deltann.fleet.pools import Pool, read_pools
from deltann.fleet.record import WorkerRecord
from deltann.fleet.view import FleetView, PoolView, observe

__all__ = [
    "DeviceInfo",
    "FleetView",
    "Pool",
    "PoolView",
    "Readings",
    "WorkerRecord",
    "describe_device",
    "observe",
    "read_pools",
]
