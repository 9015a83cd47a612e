"""Keras to a TensorFlow SavedModel, by Keras' own export; and ONNX to one, through the Keras model of onnx2keras."""

from __future__ import annotations

from pathlib import Path

from deltann_engines.keras_engine import load_model

from deltann.model import ModelInfo
from deltann_converter.tools import onnx2keras
from deltann_converter.tools.base import Made, Options, Tool

_KERAS = ("keras", "tensorflow")


def convert(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """Export for serving."""
    made = out / "saved_model"
    load_model(path, info).export(str(made), verbose=False)
    return Made(made, "savedmodel")


def from_onnx(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """Build in Keras, then export."""
    keras = onnx2keras.convert(path, info, out, options)
    made = convert(keras.path, info.model_copy(update={"format": keras.format}), out, options)
    return Made(made.path, made.format, keras.normalised)


TOOLS = (
    Tool("keras.export", _KERAS, "keras", "tensorflow", ("keras",), "direct", convert),
    Tool("keras.export", (*_KERAS, "onnx2keras", "onnx"), "keras", "tensorflow", ("keras_recipe",), "direct", convert),
    Tool("onnx2keras", (*_KERAS, "onnx2keras", "onnx"), "onnx", "tensorflow", ("onnx",), "onnx", from_onnx),
)
