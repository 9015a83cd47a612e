"""Loads the OpenCL runtime into TVM, and tells which devices it has."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

_LIBRARY = Path(__file__).with_name("libdeltann_tvm_opencl.so")
_loaded: list[ctypes.CDLL] = []
_trouble: list[str] = []


def autoload() -> None:
    """Called by TVM when it is imported. Where the runtime cannot be loaded, :func:`unavailable` says why.

    Nothing is raised: most of what imports TVM has nothing to do with OpenCL.
    """
    from importlib.metadata import version

    try:
        _loaded.append(ctypes.CDLL(str(_LIBRARY)))
    except OSError as error:
        _trouble.append(_explain(str(error)))
        return
    import tvm_ffi

    built, running = str(tvm_ffi.get_global_func("deltann.opencl.built_for")()), version("apache-tvm")
    if not running.startswith(built):
        _trouble.append(
            f"deltann-tvm-opencl was built against TVM {built} and this is {running}, which may keep its modules in "
            "another layout. Build it again: pip install --force-reinstall --no-build-isolation ./runtimes/opencl"
        )


def unavailable() -> str | None:
    """Why OpenCL modules cannot be run here, in a sentence or two; None where they can, or TVM is not imported yet."""
    return _trouble[0] if _trouble else None


def devices() -> list[dict[str, Any]]:
    """``name``, ``platform``, ``version``, ``driver``, ``memory_bytes`` and ``fp16`` of each device, in TVM's order.

    Raises:
        RuntimeError: where the runtime cannot be loaded, saying why.
    """
    import tvm  # noqa: F401  (it calls autoload)
    import tvm_ffi

    if _trouble:
        raise RuntimeError(_trouble[0])
    return [dict(device) for device in tvm_ffi.get_global_func("deltann.opencl.devices")()]


def _explain(message: str) -> str:
    if "libOpenCL" in message:
        return (
            "There is no OpenCL on this host: its loader, libOpenCL.so.1, is missing. Install it with the driver of "
            "the device (Debian: ocl-icd-libopencl1; pocl-opencl-icd brings it with a driver for the CPU)."
        )
    return f"The OpenCL runtime could not be loaded: {message}"
