"""IREE's modules, run on the CPU by its runtime; the compiler is not needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deltann.engines import EngineOptions
from deltann.model import ModelInfo
from deltann_engines.base import Session

_BESIDE = "$async"
"""What a module calls the second face that it gives every function of the model."""


class IreeSession(Session):
    """The one function of a module; its parameters are inside."""

    def __init__(self, function: Any, info: ModelInfo) -> None:
        self.info = info
        self._function = function

    def _run(self, x: np.ndarray) -> np.ndarray:
        result = self._function(x)
        first = result[0] if isinstance(result, list | tuple) else result
        array: np.ndarray = first.to_host().copy()  # what to_host gives is overwritten by the next inference
        return array


def prepare(threads: int, options: EngineOptions) -> None:
    """Import IREE's runtime and fix the threads of its pool, which it reads when a device is made."""
    from iree import runtime

    runtime.flags.parse_flags(f"--task_topology_group_count={threads}")


def load(path: Path, info: ModelInfo, threads: int, options: EngineOptions) -> Session:
    """Load a module (.vmfb).

    Raises:
        Exception: whatever IREE raises, for a truncated file or one for another processor too.
    """
    prepare(threads, options)
    from iree import runtime

    config = runtime.Config("local-task")
    module = runtime.VmModule.mmap(config.vm_instance, str(path))
    names = set(module.function_names)
    (name,) = (name for name in names if name + _BESIDE in names)
    return IreeSession(runtime.load_vm_module(module, config)[name], info)
