"""Kind ``quantize``: a model by one scheme with fewer bits, calibrated where the scheme needs that, and checked."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deltann.base import Data
from deltann.kinds.convert import Parity
from deltann.model import Framework, ModelInfo
from deltann.preprocess.steps import Recipe

QUANTIZE = "quantize"

Scheme = Literal[
    "ort-dynamic-int8", "ort-static-int8", "tflite-float16", "tflite-dynamic-int8", "tflite-full-int8",
]  # fmt: skip


class SchemeFacts(Data):
    """What a scheme does: the framework of what it makes, those that it reads, and what a person is told of it."""

    makes: Framework
    reads: tuple[Framework, ...]
    calibrated: bool
    about: str


_FOR_TFLITE: tuple[Framework, ...] = ("keras", "tensorflow", "onnx")
SCHEMES: dict[Scheme, SchemeFacts] = {
    "ort-dynamic-int8": SchemeFacts(
        makes="onnx", reads=("onnx",), calibrated=False,
        about="ONNX Runtime: weights int8, activations quantised anew for every input",
    ),
    "ort-static-int8": SchemeFacts(
        makes="onnx", reads=("onnx",), calibrated=True,
        about="ONNX Runtime: weights and activations int8, as QuantizeLinear and DequantizeLinear",
    ),
    "tflite-float16": SchemeFacts(
        makes="tflite", reads=_FOR_TFLITE, calibrated=False, about="TFLite: weights float16, computed in float32",
    ),
    "tflite-dynamic-int8": SchemeFacts(
        makes="tflite", reads=_FOR_TFLITE, calibrated=False,
        about="TFLite: weights int8, activations quantised anew for every input",
    ),
    "tflite-full-int8": SchemeFacts(
        makes="tflite", reads=_FOR_TFLITE, calibrated=True,
        about="TFLite: weights and activations int8 throughout; input and output stay float32",
    ),
}  # fmt: skip


class QuantizeParams(Data):
    """Quantise role ``model`` (need or source) by ``scheme``.

    A calibrated scheme has role ``calibration`` (a source), one shard of ``inputs`` inputs, prepared by ``recipe``.
    Artifacts out: ``model``. Data out: :class:`QuantizeData`.
    """

    scheme: Scheme
    info: ModelInfo | None = Field(
        default=None, description="Description of the model where no job gives it (a native)"
    )
    recipe: Recipe | None = None
    data_kind: str = "images"
    inputs: int = Field(default=0, ge=0, description="Of the calibration set; 0 for a scheme that has none")
    parity_inputs: int = Field(default=8, ge=1)
    seed: int = 0


class QuantizeData(Data):
    """What came out, by which tool, and how far it is from the model that it was made of.

    ``calibrated_on`` is how many inputs the ranges of activations come from; their digest is the role's in the job.
    """

    info: ModelInfo
    scheme: Scheme
    version: str = Field(description="Names and versions of what did it")
    seconds: float
    warnings: list[str] = []
    size_before: int
    size_after: int
    calibrated_on: int
    parity: Parity
