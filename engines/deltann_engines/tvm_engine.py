"""Compiled TVM modules, run by the Relax virtual machine; TVM's runtime is enough, its compiler is not needed."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import numpy as np

from deltann.model import ModelInfo
from deltann_engines import elf
from deltann_engines.base import Session


class TvmSession(Session):
    """A virtual machine on the CPU; the module holds its parameters."""

    def __init__(self, machine: Any, device: Any, info: ModelInfo) -> None:
        self.info = info
        self._main = machine["main"]
        self._device = device

    def _run(self, x: np.ndarray) -> np.ndarray:
        import tvm

        result = self._main(tvm.runtime.tensor(x, self._device))
        first = result if hasattr(result, "numpy") else result[0]
        array: np.ndarray = first.numpy()
        return array


def prepare(threads: int) -> None:
    """Import TVM and fix the threads of its pool."""
    os.environ["TVM_NUM_THREADS"] = str(threads)
    # TVM would pin the calling thread to one core, for good: the cores are the executor's to give.
    os.environ["TVM_BIND_THREADS"] = "0"
    import tvm

    tvm.get_global_func("runtime.config_threadpool")(1, threads)


def load(path: Path, info: ModelInfo, threads: int) -> Session:
    """Load a module.so.

    Raises:
        RuntimeError: where the module is for another kind of device or truncated, in a sentence that says so.
    """
    machine, device = open_machine(path, threads)
    return TvmSession(machine, device, info)


def open_machine(path: Path, threads: int) -> tuple[Any, Any]:
    """The virtual machine of a module.so, and its device; raises as :func:`load` does."""
    _check(path)
    prepare(threads)
    import tvm
    from tvm.runtime.vm import VirtualMachine

    try:
        module = tvm.runtime.load_module(str(path))
    except Exception as error:
        raise RuntimeError(explain(str(error))) from error
    device = tvm.cpu(0)
    return VirtualMachine(module, device), device


def _check(path: Path) -> None:
    """Refuse what dlopen would answer with "No such file" (another processor) or with a bus error (a short file)."""
    header = elf.read(path)
    if header is None:
        return
    if not header.whole:
        raise RuntimeError("the file is truncated: fetch or compile it again")
    if header.machine not in (None, platform.machine()):
        raise RuntimeError(
            f"the module was compiled for {header.machine} and this host is {platform.machine()}: "
            "compile for this host, or execute in a pool whose devices are of that kind"
        )


def explain(message: str) -> str:
    """TVM's message for a module of another device, in words that say what to do."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    last = lines[-1] if lines else "no reason given"
    if "a loader of that name is not registered" in message:
        return (
            f"the module needs a device that TVM has no runtime for on this host ({last}): "
            "execute it in a pool that has this device"
        )
    return last
