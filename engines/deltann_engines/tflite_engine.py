"""TFLite, by the LiteRT interpreter with its default delegate (XNNPACK)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deltann.model import ModelInfo
from deltann_engines.base import Session


class TfliteSession(Session):
    """An interpreter with its tensors allocated. Outputs are as stored: quantised where the model is."""

    def __init__(self, interpreter: Any, info: ModelInfo) -> None:
        self.info = info
        self._interpreter = interpreter
        self._input = interpreter.get_input_details()[0]["index"]
        self._output = interpreter.get_output_details()[0]["index"]

    def _run(self, x: np.ndarray) -> np.ndarray:
        self._interpreter.set_tensor(self._input, x)
        self._interpreter.invoke()
        array: np.ndarray = self._interpreter.get_tensor(self._output)
        return array


def prepare(threads: int) -> None:
    """Import LiteRT; each interpreter is given its own threads."""
    from ai_edge_litert import interpreter  # noqa: F401


def load(path: Path, info: ModelInfo, threads: int) -> Session:
    """Load a .tflite file; a free batch dimension is set to 1."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=str(path), num_threads=threads)
    interpreter.allocate_tensors()
    return TfliteSession(interpreter, info)
