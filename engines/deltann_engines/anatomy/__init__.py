"""What can be read off a model file without running it: one module per framework, none imported here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from deltann.model import Format, TensorSpec

_MODULES: dict[Format, str] = {
    "pt2": "pytorch",
    "torchscript": "torchscript",
    "keras": "keras",
    "keras_recipe": "keras",
    "savedmodel": "tensorflow",
    "tflite": "tflite",
    "onnx": "onnx",
}


@dataclass(frozen=True)
class Anatomy:
    """The parts of a model.

    Args:
        input: first input; layout not yet told.
        output: first output.
        operators: one line per operator with what it is configured to, in graph order.
        classifier: the last parameter with at least two dimensions that the graph uses, or None.
        opset: of ONNX.
    """

    input: TensorSpec
    output: TensorSpec
    operators: list[str]
    classifier: np.ndarray | None
    opset: int | None = None


def read(path: Path, fmt: Format) -> Anatomy:
    """The anatomy of a model file.

    Raises:
        Exception: whatever the framework raises for a file that is truncated or of another format.
    """
    anatomy: Anatomy = import_module(f"{__name__}.{_MODULES[fmt]}").read(path, fmt)
    return anatomy
