"""TFLite, by the LiteRT interpreter: left to itself with its default delegate (XNNPACK)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deltann.engines import EngineOptions
from deltann.model import ModelInfo
from deltann_engines.base import Session

_RESOLVERS = {"xnnpack": "BUILTIN", "builtin": "BUILTIN_WITHOUT_DEFAULT_DELEGATES", "reference": "BUILTIN_REF"}
"""The libraries by LiteRT's names for who resolves operators."""
_UNDELEGATED = ("builtin", "reference")


class TfliteSession(Session):
    """An interpreter with its tensors allocated. Outputs are as stored: quantised where the model is."""

    def __init__(self, interpreter: Any, info: ModelInfo, library: str | None) -> None:
        self.info = info
        self._library = library
        self._interpreter = interpreter
        self._input = interpreter.get_input_details()[0]["index"]
        self._output = interpreter.get_output_details()[0]["index"]

    def _run(self, x: np.ndarray) -> np.ndarray:
        self._interpreter.set_tensor(self._input, x)
        self._interpreter.invoke()
        array: np.ndarray = self._interpreter.get_tensor(self._output)
        return array

    @property
    def used(self) -> EngineOptions:
        """XNNPACK where a delegate took any of the operators; else the kernels that were resolved."""
        if any(operator["op_name"] == "DELEGATE" for operator in self._interpreter._get_ops_details()):
            return EngineOptions(library="xnnpack")
        return EngineOptions(library=self._library if self._library in _UNDELEGATED else "builtin")


def prepare(threads: int, options: EngineOptions) -> None:
    """Import LiteRT; each interpreter is given its own threads."""
    from ai_edge_litert import interpreter  # noqa: F401


def load(path: Path, info: ModelInfo, threads: int, options: EngineOptions) -> Session:
    """Load a .tflite file; a free batch dimension is set to 1."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    resolver = OpResolverType[_RESOLVERS[options.library or "xnnpack"]]
    interpreter = Interpreter(model_path=str(path), num_threads=threads, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    return TfliteSession(interpreter, info, options.library)
