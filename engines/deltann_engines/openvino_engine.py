"""OpenVINO on the CPU: models in ONNX, in the precision asked for, or in the one that it prefers on this processor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deltann.engines import EngineOptions
from deltann.model import ModelInfo
from deltann_engines.base import Session

_HINTS = {"fp32": "f32", "bf16": "bf16", "fp16": "f16"}
"""The precisions by OpenVINO's names. A hint is no order: what the processor lacks is silently another precision."""
_FLOATS = {"bf16": "bf16", "f16": "fp16", "f32": "fp32", "f64": "fp64"}
"""By OpenVINO's names, the lowest first."""


class OpenVinoSession(Session):
    """A compiled model with one request, one stream."""

    def __init__(self, compiled: Any, info: ModelInfo) -> None:
        self.info = info
        self._compiled = compiled
        self._request = compiled.create_infer_request()

    def _run(self, x: np.ndarray) -> np.ndarray:
        array: np.ndarray = self._request.infer([x], share_inputs=True)[0]
        return array

    @property
    def used(self) -> EngineOptions:
        """The lowest floating-point precision that any layer of the graph as it is executed computes in."""
        found = {
            str(layer.get_rt_info()["runtimePrecision"].astype(str))
            for layer in self._compiled.get_runtime_model().get_ordered_ops()
        }
        return EngineOptions(precision=next((name for theirs, name in _FLOATS.items() if theirs in found), None))


def prepare(threads: int, options: EngineOptions) -> None:
    """Import OpenVINO; each model is given its own threads."""
    import openvino  # noqa: F401


def load(path: Path, info: ModelInfo, threads: int, options: EngineOptions) -> Session:
    """Read an .onnx file and compile it for the CPU; a free batch stays free."""
    import openvino

    settings = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
        "ENABLE_CPU_PINNING": False,  # the cores are the executor's to give
    }
    if options.precision is not None:
        settings["INFERENCE_PRECISION_HINT"] = _HINTS[options.precision]
    core = openvino.Core()
    return OpenVinoSession(core.compile_model(core.read_model(path), "CPU", settings), info)
