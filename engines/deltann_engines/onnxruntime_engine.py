"""ONNX Runtime, spinning off: spinning threads slow whatever shares the cores.

Left to itself it is on its CPU provider with all graph optimisations.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deltann.engines import EngineOptions
from deltann.model import ModelInfo
from deltann_engines.base import Session

_LEVELS = {
    "disabled": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}
_PROVIDERS = {
    "cpu": "CPUExecutionProvider",
    "dnnl": "DnnlExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
    "xnnpack": "XnnpackExecutionProvider",
    "acl": "ACLExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
}
"""The libraries by ONNX Runtime's names."""


class OnnxRuntimeSession(Session):
    """An inference session: what its provider does not compute, the CPU provider does."""

    def __init__(self, session: Any, info: ModelInfo) -> None:
        self.info = info
        self._session = session
        self._input = session.get_inputs()[0].name
        self._output = [session.get_outputs()[0].name]

    def _run(self, x: np.ndarray) -> np.ndarray:
        array: np.ndarray = self._session.run(self._output, {self._input: x})[0]
        return array

    @property
    def used(self) -> EngineOptions:
        """Level and provider of the session; ONNX Runtime does not tell in what precision a kernel computes."""
        level = self._session.get_session_options().graph_optimization_level.name
        provider = self._session.get_providers()[0]
        return EngineOptions(
            level=next((name for name, theirs in _LEVELS.items() if theirs == level), level),
            library=next((name for name, theirs in _PROVIDERS.items() if theirs == provider), provider),
        )


def prepare(threads: int, options: EngineOptions) -> None:
    """Import ONNX Runtime; each session is given its own threads."""
    import onnxruntime  # noqa: F401


def load(path: Path, info: ModelInfo, threads: int, options: EngineOptions) -> Session:
    """Load an .onnx file.

    Raises:
        RuntimeError: for a provider that this build of ONNX Runtime does not have; it would silently use the CPU's.
    """
    import onnxruntime

    provider = _PROVIDERS[options.library or "cpu"]
    if provider not in (there_are := onnxruntime.get_available_providers()):
        raise RuntimeError(
            f"this ONNX Runtime has no {provider}, only {', '.join(there_are)}: install a build that has it "
            "for the workers of this pool, or take this library out of the study"
        )
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.inter_op_num_threads = 1
    settings.log_severity_level = 3
    settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if options.level is not None:
        settings.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, _LEVELS[options.level])
    providers = list(dict.fromkeys([provider, "CPUExecutionProvider"]))
    session = onnxruntime.InferenceSession(str(path), settings, providers=providers)
    return OnnxRuntimeSession(session, info)
