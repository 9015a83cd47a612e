"""Devices that compute beside the processor, as TVM has them; or why it has none here, in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deltann.targets.needs import CPU
from deltann_engines import tvm_cuda


def device_of(runtime: str) -> Any:
    """TVM's first device of a kind; the processor's for ``cpu``.

    Raises:
        RuntimeError: where there is none, saying what this host lacks.
    """
    import tvm

    if runtime == CPU:
        return tvm.cpu(0)
    prepare = _PREPARE.get(runtime)
    if prepare is not None:
        prepare()
    if tvm.get_global_func(f"device_api.{runtime}", allow_missing=True) is None:
        raise RuntimeError(f"TVM has no runtime for {runtime} here")
    device = tvm.device(runtime, 0)
    try:
        if device.exist:
            return device
        tvm.runtime.empty((1,), "int8", device)  # its runtime says why it has none when it is used
    except Exception as error:
        raise RuntimeError(last_line(str(error))) from error
    raise RuntimeError(f"TVM finds no {runtime} device")


def _opencl() -> None:
    try:
        import deltann_tvm_opencl
    except ImportError as error:
        raise RuntimeError(
            "OpenCL's runtime is the package deltann-tvm-opencl, which is not installed: build it from runtimes/opencl"
        ) from error
    if why := deltann_tvm_opencl.unavailable():
        raise RuntimeError(why)


_PREPARE: dict[str, Callable[[], None]] = {"opencl": _opencl, "cuda": tvm_cuda.load}
"""By kind of device: what makes its runtime ready, or raises RuntimeError."""


def last_line(message: str) -> str:
    """The line of TVM's message that tells what is wrong: below its traceback; empty where there is none."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return lines[-1] if lines else ""
