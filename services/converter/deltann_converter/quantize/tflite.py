"""What the schemes of TFLite share: a converter of the model, told what to quantise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deltann.model import ModelInfo
from deltann_converter.tools import keras_export, tflite_converter
from deltann_converter.tools.base import Options

DISTRIBUTIONS = ("tensorflow", "keras")


def saved_model(path: Path, info: ModelInfo, out: Path) -> Path:
    """The model as a SavedModel: itself, exported by Keras, or from ONNX through onnx2keras."""
    if info.format == "savedmodel":
        return path
    make = keras_export.from_onnx if info.format == "onnx" else keras_export.convert
    return make(path, info, out, Options()).path


def converter(saved: Path) -> Any:
    """A ``tf.lite.TFLiteConverter`` that quantises weights."""
    import tensorflow as tf

    made = tflite_converter.converter(saved)
    made.optimizations = [tf.lite.Optimize.DEFAULT]
    return made


def write(made: Any, out: Path) -> Path:
    """Convert, and write what comes out."""
    path = out / "model.tflite"
    path.write_bytes(made.convert())
    return path
