"""ONNX Runtime on the CPU, all graph optimisations, spinning off: spinning threads slow whatever shares the cores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deltann.model import ModelInfo
from deltann_engines.base import Session


class OnnxRuntimeSession(Session):
    """An inference session on the CPU provider."""

    def __init__(self, session: Any, info: ModelInfo) -> None:
        self.info = info
        self._session = session
        self._input = session.get_inputs()[0].name
        self._output = [session.get_outputs()[0].name]

    def _run(self, x: np.ndarray) -> np.ndarray:
        array: np.ndarray = self._session.run(self._output, {self._input: x})[0]
        return array


def prepare(threads: int) -> None:
    """Import ONNX Runtime; each session is given its own threads."""
    import onnxruntime  # noqa: F401


def load(path: Path, info: ModelInfo, threads: int) -> Session:
    """Load an .onnx file."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return OnnxRuntimeSession(session, info)
