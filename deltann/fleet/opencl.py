"""The OpenCL devices of this host, as TVM's runtime for them numbers them."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

from deltann.fleet.device import DeviceInfo

RUNTIME = "deltann-tvm-opencl"
"""The distribution with that runtime. Without it no module for OpenCL runs here, whatever devices there are."""

_ANSWER_S = 120.0
_log = logging.getLogger(__name__)


def with_opencl(device: DeviceInfo) -> DeviceInfo:
    """This host's device with its OpenCL devices beside it."""
    return device.model_copy(update={"opencl": opencl_devices()})


def opencl_devices() -> tuple[str, ...]:
    """Their names; empty where the runtime is not installed, or finds none.

    A process of its own asks: drivers come with threads and compilers, and some of them crash.
    """
    try:
        version(RUNTIME)
        command = [sys.executable, "-m", RUNTIME.replace("-", "_")]
        asked = subprocess.run(command, capture_output=True, text=True, timeout=_ANSWER_S, check=False)
    except (PackageNotFoundError, OSError):
        return ()
    except subprocess.TimeoutExpired:
        _log.warning("the OpenCL drivers of this host do not answer within %g s: it has no OpenCL device", _ANSWER_S)
        return ()
    if asked.returncode:
        last = asked.stderr.strip().splitlines() or [f"exit code {asked.returncode}"]
        _log.warning("this host has no OpenCL device: %s", last[-1])
        return ()
    return tuple(device["name"] for device in json.loads(asked.stdout))
