"""What a worker says of itself every few seconds, kept in Redis until it expires."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from deltann.base import Data
from deltann.fleet.device import DeviceInfo, Readings

WorkerState = Literal["idle", "busy", "draining"]


class WorkerRecord(Data):
    """A worker and what it is doing. Times are seconds since the epoch.

    ``name`` is what its device is called in results. ``runtimes`` are the engines that it has, with their versions;
    ``code`` is the version of DeltaNN with a digest of the service's code, so that two versions in one pool show.
    ``job`` is what a person calls the job in hand, ``since`` when that began (or when it became idle).
    """

    model_config = ConfigDict(extra="ignore")  # a worker of a later version may say more

    host: str
    pid: int
    service: str
    queue: str
    pool: str | None = None
    name: str = ""
    code: str = ""
    started: float
    seen: float
    state: WorkerState = "idle"
    job: str = ""
    since: float = 0.0
    jobs_done: int = 0
    busy_seconds: float = 0.0
    runtimes: dict[str, str] = {}
    device: DeviceInfo
    now: Readings = Readings()

    @property
    def id(self) -> str:
        """Unique among those that run: host and process."""
        return f"{self.host}:{self.pid}"
