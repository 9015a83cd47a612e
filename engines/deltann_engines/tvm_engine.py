"""Compiled TVM modules, run by the Relax virtual machine; TVM's runtime is enough, its compiler is not needed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from deltann.model import ModelInfo
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


def load(path: Path, info: ModelInfo, threads: int) -> Session:
    """Load a module.so with the number of threads of TVM's pool fixed.

    Raises:
        RuntimeError: where the module is for another kind of device, in a sentence that says so.
    """
    os.environ["TVM_NUM_THREADS"] = str(threads)
    import tvm
    from tvm.runtime.vm import VirtualMachine

    try:
        module = tvm.runtime.load_module(str(path))
    except Exception as error:
        raise RuntimeError(_explain(str(error))) from error
    tvm.get_global_func("runtime.config_threadpool")(1, threads)
    device = tvm.cpu(0)
    return TvmSession(VirtualMachine(module, device), device, info)


def _explain(message: str) -> str:
    """TVM's message for a module of another device, in words that name the device."""
    if "a loader of that name is not registered" in message:
        return f"the module needs a device that this host's TVM has no runtime for ({message.strip().splitlines()[-1]})"
    if "cannot open shared object file" in message or "wrong ELF class" in message:
        return f"the module was compiled for another processor than this host's ({os.uname().machine})"
    return message
