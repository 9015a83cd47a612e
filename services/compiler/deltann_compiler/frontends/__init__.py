"""Models into TVM's Relax IR: one module per route, each with ``load(path, info) -> IRModule``.

Every imported module has one function ``main`` with one input, a batch of 1, and its parameters as constants.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from deltann.errors import JobFailure
from deltann.kinds.compile import ImportRoute
from deltann.model import Format, ModelInfo
from deltann.outcome import Outcome

ROUTES: dict[Format, ImportRoute] = {"pt2": "pytorch", "tflite": "tflite", "onnx": "onnx"}
"""The formats that TVM reads itself. The plan brings the others through ONNX."""


def load(path: Path, info: ModelInfo) -> tuple[Any, ImportRoute]:
    """The IRModule of a model file, and the route it came by.

    Raises:
        JobFailure: ``compile_failed`` for a format that no frontend reads.
        Exception: whatever TVM's frontend raises.
    """
    if info.format not in ROUTES:
        raise JobFailure(
            Outcome.COMPILE_FAILED,
            "import",
            f"TVM reads {', '.join(ROUTES)}, not {info.format}: convert the model to ONNX first.",
        )
    route = ROUTES[info.format]
    return import_module(f"{__name__}.{route}").load(path, info), route
