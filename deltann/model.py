"""What DeltaNN knows of a model: frameworks, file formats, and the description that travels with it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deltann.base import Data
from deltann.engines import Engine

Framework = Literal["pytorch", "keras", "tensorflow", "tflite", "onnx", "coreml"]
FRAMEWORKS: tuple[Framework, ...] = ("pytorch", "keras", "tensorflow", "tflite", "onnx", "coreml")
ENDS: frozenset[Framework] = frozenset({"coreml"})
"""Frameworks that models are converted to, and from which no tool leads on."""

Format = Literal["pt2", "torchscript", "keras", "keras_recipe", "savedmodel", "tflite", "onnx", "mlpackage"]
FRAMEWORK_OF: dict[Format, Framework] = {
    "pt2": "pytorch",
    "torchscript": "pytorch",
    "keras": "keras",
    "keras_recipe": "keras",
    "savedmodel": "tensorflow",
    "tflite": "tflite",
    "onnx": "onnx",
    "mlpackage": "coreml",
}

ENGINE_OF: dict[Framework, Engine] = {
    "pytorch": "torch",
    "keras": "keras",
    "tensorflow": "tensorflow",
    "tflite": "tflite",
    "onnx": "onnxruntime",
    "coreml": "mil-reference",
}

Layout = Literal["NCHW", "NHWC", "none"]
OutputKind = Literal["logits", "probabilities", "values"]


class Quantisation(Data):
    """Affine quantisation of a tensor: real = scale · (stored − zero_point)."""

    scale: float = Field(gt=0)
    zero_point: int


class TensorSpec(Data):
    """An input or output of a model. ``None`` in the shape is a free dimension (batch)."""

    name: str
    shape: tuple[int | None, ...]
    dtype: str = Field(description="NumPy name: float32, uint8, int8, int64, …")
    layout: Layout = "none"
    quantisation: Quantisation | None = None


class ModelInfo(Data):
    """Everything the rest of DeltaNN has to know of a model file.

    ``class_offset`` is the number of leading classes that are not of the data set (1 for a background class 0).
    ``classes`` counts the outputs of the model, background included.
    The weights fingerprint is over the sorted values of the classifier, the last parameter with two dimensions or more:
    sorting makes it the same in every layout, and folding batch norms rewrites convolutions but not the classifier.
    The graph fingerprint is over the operators and their attributes, in the format's own terms.
    """

    format: Format
    input: TensorSpec
    output: TensorSpec
    output_kind: OutputKind
    classes: int | None = None
    class_offset: int = 0
    opset: int | None = None
    size_bytes: int = 0
    weights_fingerprint: str = ""
    graph_fingerprint: str = ""

    @property
    def framework(self) -> Framework:
        """The framework that this file format belongs to."""
        return FRAMEWORK_OF[self.format]

    @property
    def image_size(self) -> tuple[int, int] | None:
        """(height, width) in pixels of an image input, or None."""
        shape = self.input.shape
        if len(shape) != 4 or self.input.layout == "none":
            return None
        height, width = shape[2:] if self.input.layout == "NCHW" else shape[1:3]
        return None if height is None or width is None else (height, width)
