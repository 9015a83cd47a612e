"""PyTorch and Keras to CoreML, by coremltools: ML Programs in float32, so that errors show the conversion.

coremltools reads exported programs too, but has no ``lstm`` or ``gru`` there; by tracing (preferred) it has both.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from deltann_engines.mil.tools import coremltools

from deltann.model import ModelInfo
from deltann_converter.tools.base import Made, Options, Tool
from deltann_converter.tools.torch_onnx import example, traceable


def _save(ct: Any, model: Any, out: Path, **wanted: Any) -> Made:
    made = out / "model.mlpackage"
    converted = ct.convert(
        model,
        convert_to="mlprogram",
        compute_precision=ct.precision.FLOAT32,
        minimum_deployment_target=ct.target.iOS15,
        skip_model_load=True,
        **wanted,
    )
    converted.save(str(made))
    return Made(made, "mlpackage")


def _input(ct: Any, info: ModelInfo) -> Any:
    return ct.TensorType(name="input", shape=_shape(info), dtype=_dtype(info))


def _shape(info: ModelInfo) -> list[int]:
    """Of the input, with a batch of 1."""
    return [1 if side is None else side for side in info.input.shape]


def _dtype(info: ModelInfo) -> Any:
    """CoreML has no int64 inputs."""
    return np.int32 if info.input.dtype.startswith("int") else np.dtype(info.input.dtype).type


def by_tracing(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """Trace with a batch of 1, then convert the trace."""
    ct = coremltools()
    import torch

    with torch.inference_mode():
        traced = torch.jit.trace(traceable(path, info), (example(info),), check_trace=False)
    return _save(ct, traced, out, inputs=[_input(ct, info)])


def by_export(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """Export anew with a batch of 1, decompose, then convert the exported program."""
    ct = coremltools()
    import torch

    with torch.no_grad():
        program = torch.export.export(traceable(path, info), (example(info),)).run_decompositions({})
    return _save(ct, program, out)


def from_keras(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """From a concrete function with a batch of 1; a SavedModel folder is not read by today's coremltools."""
    ct = coremltools()
    import tensorflow as tf
    from deltann_engines.keras_engine import load_model

    model = load_model(path, info)
    one = tf.TensorSpec(_shape(info), info.input.dtype, name="input")
    concrete = tf.function(lambda input: model(input, training=False)).get_concrete_function(one)
    return _save(ct, [concrete], out, source="tensorflow", inputs=[_input(ct, info)])


_TORCH = ("coremltools", "torch")
_KERAS = ("coremltools", "keras", "tensorflow")
TOOLS = (
    Tool("coremltools", _TORCH, "pytorch", "coreml", ("pt2", "torchscript"), "direct", by_tracing),
    Tool("coremltools-export", _TORCH, "pytorch", "coreml", ("pt2",), "direct", by_export),
    Tool("coremltools", _KERAS, "keras", "coreml", ("keras",), "direct", from_keras),
    Tool("coremltools", (*_KERAS, "onnx2keras"), "keras", "coreml", ("keras_recipe",), "direct", from_keras),
)
