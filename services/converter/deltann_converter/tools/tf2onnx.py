"""Keras, TensorFlow and TFLite to ONNX, by tf2onnx."""

from __future__ import annotations

import sys
from pathlib import Path

from deltann.model import ModelInfo
from deltann_converter.tools import program, tf2onnx_program
from deltann_converter.tools.base import Made, Options, Tool

_DISTRIBUTIONS = ("tf2onnx", "tensorflow", "onnx")


def from_keras(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """From a Keras model, by tf2onnx's Python call."""
    import tensorflow as tf
    import tf2onnx
    from deltann_engines.keras_engine import load_model

    model = load_model(path, info)
    made = out / "model.onnx"
    signature = [tf.TensorSpec(model.inputs[0].shape, model.inputs[0].dtype, name="input")]
    function = tf.function(lambda input: model(input, training=False), input_signature=signature)
    tf2onnx_program.give_memory_back()
    tf2onnx.convert.from_function(function, signature, opset=options.opset, output_path=str(made))
    return Made(made, "onnx")


def _command(flag: str, path: Path, out: Path, options: Options) -> Made:
    """By tf2onnx's command line, whose way through a SavedModel or a flatbuffer has no Python call of its own."""
    made = out / "model.onnx"
    command = [sys.executable, "-m", tf2onnx_program.__name__, flag, str(path)]
    program.run("tf2onnx", [*command, "--opset", str(options.opset), "--output", str(made)], out)
    if not made.exists():
        raise RuntimeError("tf2onnx ended well, but wrote no model")
    return Made(made, "onnx")


def from_saved_model(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """From a SavedModel folder."""
    return _command("--saved-model", path, out, options)


def from_tflite(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """From a TFLite flatbuffer."""
    return _command("--tflite", path, out, options)


TOOLS = (
    Tool("tf2onnx", (*_DISTRIBUTIONS, "keras"), "keras", "onnx", ("keras",), "onnx", from_keras),
    Tool("tf2onnx", (*_DISTRIBUTIONS, "keras", "onnx2keras"), "keras", "onnx", ("keras_recipe",), "onnx", from_keras),
    Tool("tf2onnx", _DISTRIBUTIONS, "tensorflow", "onnx", ("savedmodel",), "onnx", from_saved_model),
    Tool("tf2onnx", _DISTRIBUTIONS, "tflite", "onnx", ("tflite",), "onnx", from_tflite),
)
