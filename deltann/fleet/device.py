"""What a host is, and how it is at the moment: read from the kernel's own files, nothing measured.

Every reading may be missing: in a container, on a kernel without that driver, on another system than Linux.
"""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

import psutil
from pydantic import ConfigDict

from deltann.base import Data
from deltann.targets.needs import LINUX_FLAGS

_FEATURES = frozenset(["neon", *(flag for flags in LINUX_FLAGS.values() for flag in flags.values())])
"""Of the processor's flags those that decide which code runs fast, or at all."""


class DeviceInfo(Data):
    """What does not change while a host is up.

    ``memory_bytes`` is what the host has, or the container's limit where that is less; ``cores`` are those that this
    process may use. ``opencl`` are the devices that TVM runs modules on by OpenCL, which a worker asks for apart.
    """

    model_config = ConfigDict(extra="ignore")  # a worker of a later version may say more

    arch: str
    cpu: str
    cores: int
    memory_bytes: int
    features: tuple[str, ...] = ()
    board: str = ""
    gpus: tuple[str, ...] = ()
    opencl: tuple[str, ...] = ()
    system: str = ""


class Readings(Data):
    """What changes: temperature in °C, frequency in MHz, memory that is free, load over a minute per core."""

    model_config = ConfigDict(extra="ignore")

    temperature_c: float | None = None
    frequency_mhz: float | None = None
    governor: str = ""
    memory_free_bytes: int | None = None
    load: float | None = None


@cache
def describe_device(root: Path = Path("/")) -> DeviceInfo:
    """This host's device.

    Args:
        root: of the file system that ``/proc`` and ``/sys`` are read from.
    """
    cpuinfo = _text(root / "proc/cpuinfo")
    return DeviceInfo(
        arch=platform.machine(),
        cpu=_field(cpuinfo, "model name", "Model", "Hardware") or platform.processor() or platform.machine(),
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=_memory(root),
        features=tuple(sorted(_FEATURES & set(_field(cpuinfo, "flags", "Features").split()))),
        board=_text(root / "proc/device-tree/model").strip("\0 \n"),
        gpus=_gpus(root),
        system=f"{platform.system()} {platform.release()}",
    )


def read_now(root: Path = Path("/")) -> Readings:
    """How this host is at the moment."""
    temperatures = [_number(path) for path in sorted((root / "sys/class/thermal").glob("thermal_zone*/temp"))]
    hottest = max((degrees for degrees in temperatures if degrees is not None), default=None)
    policy = root / "sys/devices/system/cpu/cpu0/cpufreq"
    kilohertz = _number(policy / "scaling_cur_freq")
    return Readings(
        temperature_c=None if hottest is None else hottest / 1000,
        frequency_mhz=None if kilohertz is None else kilohertz / 1000,
        governor=_text(policy / "scaling_governor").strip(),
        memory_free_bytes=psutil.virtual_memory().available,
        load=round(os.getloadavg()[0] / (os.cpu_count() or 1), 2),
    )


def _memory(root: Path) -> int:
    limit = _text(root / "sys/fs/cgroup/memory.max").strip()
    total: int = psutil.virtual_memory().total
    return min(total, int(limit)) if limit.isdigit() else total


def _gpus(root: Path) -> tuple[str, ...]:
    """Names of NVIDIA GPUs as their driver has them, and the board's own GPU on a Jetson."""
    found = [_field(_text(path), "Model") for path in sorted((root / "proc/driver/nvidia/gpus").glob("*/information"))]
    if (root / "dev/nvhost-gpu").exists() and not found:
        found.append("integrated NVIDIA GPU")
    return tuple(filter(None, found))


def _field(text: str, *keys: str) -> str:
    """The value of the first of these keys in lines such as ``model name : …``; empty where none is there."""
    pairs = [line.partition(":") for line in text.splitlines()]
    for key in keys:
        for name, _, value in pairs:
            if name.strip() == key and value.strip():
                return value.strip()
    return ""


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _number(path: Path) -> float | None:
    try:
        return float(_text(path))
    except ValueError:
        return None
