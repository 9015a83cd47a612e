"""Debug execution of a compiled module: every kernel that TVM's virtual machine calls, fused ones as one."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from deltann.engines import DEFAULT
from deltann.layers.graph import Node
from deltann.model import ModelInfo
from deltann_engines.trace import Layer
from deltann_engines.tvm_engine import open_machine

FEED = "input"
_BUILTIN = "vm.builtin"
_RUN = 0
"""What an instrument answers for the call to go on."""


class _Tap:
    """An instrument of the virtual machine. Storage is used again, so that outputs are copied after each call.

    Values are told apart by where they lie: what was last written there is what is read.
    """

    def __init__(self, x: Any, sink: Callable[[Layer], None]) -> None:
        self._sink = sink
        self._at: dict[int, str] = {x.data_ptr(): FEED}
        self._called: Counter[str] = Counter()
        self._index = 0
        self._began = 0

    def __call__(self, function: Any, name: str, before: bool, result: Any, *args: Any) -> int:
        if name.startswith(_BUILTIN):
            return _RUN
        if before:
            self._began = time.perf_counter_ns()
            return _RUN
        ns = time.perf_counter_ns() - self._began
        tensors = [one for one in args if hasattr(one, "data_ptr")]
        if tensors:
            *read, written = tensors
            self._called[name] += 1
            own = name if self._called[name] == 1 else f"{name}#{self._called[name]}"
            inputs = dict.fromkeys(self._at[one.data_ptr()] for one in read if one.data_ptr() in self._at)
            self._at[written.data_ptr()] = own
            node = Node(own, name, tuple(inputs), (own,))
            self._sink(Layer(self._index, node, own, written.numpy(), ns))
            self._index += 1
        return _RUN


def trace_module(path: Path, info: ModelInfo, x: np.ndarray, sink: Callable[[Layer], None]) -> np.ndarray:
    """Run a module with every kernel's output handed on; see :func:`deltann_engines.trace.trace`.

    Raises:
        RuntimeError: where the module is for another kind of device or truncated.
        Exception: whatever TVM raises.
    """
    machine, device = open_machine(path, 1, DEFAULT)
    import tvm

    given = tvm.runtime.tensor(x, device)
    machine.set_instrument(_Tap(given, sink))
    result = machine["main"](given)
    first = result if hasattr(result, "numpy") else result[0]
    array: np.ndarray = first.numpy()
    return array
