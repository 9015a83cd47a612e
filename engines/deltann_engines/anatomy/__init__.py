"""What can be read off a model file without running it: one module per framework, none imported here."""

from __future__ import annotations

from collections.abc import Sequence
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
    "mlpackage": "coreml",
}


@dataclass(frozen=True)
class Anatomy:
    """The parts of a model.

    Args:
        input: first input; layout not yet told.
        output: first output.
        operators: one line per operator with what it is configured to, in graph order.
        classifier: the last parameter that the graph uses and that is a matrix (see :func:`is_matrix`), or None.
        opset: of ONNX.
    """

    input: TensorSpec
    output: TensorSpec
    operators: list[str]
    classifier: np.ndarray | None
    opset: int | None = None


def is_matrix(shape: Sequence[int]) -> bool:
    """Whether a shape has at least two sides longer than 1: a kernel's, not that of a bias written as a row."""
    return sum(side > 1 for side in shape) >= 2


def read(path: Path, fmt: Format) -> Anatomy:
    """The anatomy of a model file.

    Raises:
        Exception: whatever the framework raises for a file that is truncated or of another format.
    """
    anatomy: Anatomy = import_module(f"{__name__}.{_MODULES[fmt]}").read(path, fmt)
    return anatomy
