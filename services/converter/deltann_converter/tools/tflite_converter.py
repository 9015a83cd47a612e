"""To TFLite by TensorFlow's TFLiteConverter: from a SavedModel, from Keras through one, from ONNX through onnx2keras.

Nothing is quantised here: ``Optimize.DEFAULT`` would, silently.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deltann.model import ModelInfo
from deltann_converter.tools import keras_export
from deltann_converter.tools.base import Made, Options, Tool

_DISTRIBUTIONS = ("tensorflow", "keras")


def convert(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """From a SavedModel folder, with a batch of 1."""
    made = out / "model.tflite"
    made.write_bytes(converter(path).convert())
    return Made(made, "tflite")


def converter(path: Path) -> Any:
    """A ``tf.lite.TFLiteConverter`` of a SavedModel folder, with a batch of 1.

    A free batch would leave arithmetic on shapes in the flatbuffer, which its interpreter computes anew for every input
    and which compilers that read TFLite refuse.
    """
    import tensorflow as tf

    loaded = tf.saved_model.load(str(path))
    serve = loaded.signatures["serving_default"]
    name, spec = next(iter(serve.structured_input_signature[1].items()))
    one = tf.TensorSpec([1, *spec.shape[1:]], spec.dtype, name="input")
    concrete = tf.function(lambda input: serve(**{name: input})).get_concrete_function(one)
    # The loaded model goes along: without it the variables would be lost, silently.
    return tf.lite.TFLiteConverter.from_concrete_functions([concrete], loaded)


def from_keras(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """Export, then convert."""
    return convert(keras_export.convert(path, info, out, options).path, info, out, options)


def from_onnx(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """Build in Keras, export, then convert."""
    saved = keras_export.from_onnx(path, info, out, options)
    made = convert(saved.path, info, out, options)
    return Made(made.path, made.format, saved.normalised)


TOOLS = (
    Tool("tflite-converter", _DISTRIBUTIONS, "tensorflow", "tflite", ("savedmodel",), "direct", convert),
    Tool("tflite-converter", _DISTRIBUTIONS, "keras", "tflite", ("keras",), "direct", from_keras),
    Tool(
        "tflite-converter", (*_DISTRIBUTIONS, "onnx2keras"), "keras", "tflite", ("keras_recipe",), "direct", from_keras
    ),
    Tool("onnx2keras", (*_DISTRIBUTIONS, "onnx2keras", "onnx"), "onnx", "tflite", ("onnx",), "onnx", from_onnx),
)
