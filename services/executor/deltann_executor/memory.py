"""What this worker's device is, as every result says."""

from __future__ import annotations

import platform
from pathlib import Path


def cpu_model() -> str:
    """The processor's own name, e.g. ``Intel(R) Xeon(R) Processor @ 2.60GHz``; the architecture where it has none."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    for key in ("model name", "Model", "Hardware"):
        for line in lines:
            if line.startswith(key):
                return line.partition(":")[2].strip()
    return platform.machine()


def peak_memory() -> int:
    """The most resident memory that this process has had, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def reset_peak_memory() -> None:
    """Begin a new peak, so that a warm process does not answer with an earlier job's."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return  # not permitted in some containers: the peak then covers the whole process
