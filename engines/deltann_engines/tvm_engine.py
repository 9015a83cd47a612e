"""Compiled TVM modules, run by the Relax virtual machine; TVM's runtime is enough, its compiler is not needed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from deltann.engines import EngineOptions
from deltann.fleet.device import describe_device
from deltann.model import ModelInfo
from deltann_engines import placement
from deltann_engines.accelerators import last_line
from deltann_engines.base import Session


class TvmSession(Session):
    """A virtual machine on a device of this host; the module holds its parameters."""

    def __init__(self, machine: Any, device: Any, info: ModelInfo) -> None:
        self.info = info
        self._main = machine["main"]
        self._device = device

    @property
    def device(self) -> str:
        """The processor, or the device that works for it."""
        return super().device if self._device.type == "cpu" else str(self._device.device_name)

    def _run(self, x: np.ndarray) -> np.ndarray:
        import tvm

        result = self._main(tvm.runtime.tensor(x, self._device))
        first = result if hasattr(result, "numpy") else result[0]
        array: np.ndarray = first.numpy()
        return array


def prepare(threads: int, options: EngineOptions) -> None:
    """Import TVM and fix the threads of its pool."""
    os.environ["TVM_NUM_THREADS"] = str(threads)
    # TVM would pin the calling thread to one core, for good: the cores are the executor's to give.
    os.environ["TVM_BIND_THREADS"] = "0"
    import tvm

    tvm.get_global_func("runtime.config_threadpool")(1, threads)


def load(path: Path, info: ModelInfo, threads: int, options: EngineOptions) -> Session:
    """Load a module.so.

    Raises:
        RuntimeError: where the module is truncated or TVM cannot load it, in a sentence that says so.
        WrongDeviceError: where it is for another device.
    """
    machine, device = open_machine(path, threads, options)
    return TvmSession(machine, device, info)


def open_machine(path: Path, threads: int, options: EngineOptions) -> tuple[Any, Any]:
    """The virtual machine of a module.so, and its device; raises as :func:`load` does."""
    needs = placement.check(path, describe_device())
    prepare(threads, options)
    device = placement.device_for(needs)
    import tvm_ffi
    from tvm.runtime.vm import VirtualMachine

    try:
        # TVM's own way to load keeps every module until the process ends: code, weights, and what they were read into.
        machine = VirtualMachine(tvm_ffi.load_module(str(path), keep_module_alive=False), device)
    except Exception as error:
        raise RuntimeError(explain(str(error))) from error
    return machine, device


def explain(message: str) -> str:
    """TVM's message for a module of another device, in words that say what to do."""
    last = last_line(message) or "no reason given"
    if "a loader of that name is not registered" in message:
        return (
            f"the module needs a device that TVM has no runtime for on this host ({last}): "
            "execute it in a pool that has this device"
        )
    return last
