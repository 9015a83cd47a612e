"""Keras models, from a file or rebuilt from a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deltann.engines import DEFAULT
from deltann.model import Format, ModelInfo, TensorSpec
from deltann_engines.anatomy import Anatomy, is_matrix
from deltann_engines.keras_engine import load_model, prepare

_INCIDENTAL = {"name", "trainable", "dtype", "build_config", "registered_name"}


def _spec(tensor: Any) -> TensorSpec:
    shape = tuple(None if side is None else int(side) for side in tensor.shape)
    return TensorSpec(name=tensor.name, shape=shape, dtype=str(tensor.dtype))


def _operator(layer: Any) -> str:
    settings = {
        key: value
        for key, value in layer.get_config().items()
        if key not in _INCIDENTAL and isinstance(value, int | float | str | list | tuple | bool)
    }
    return f"{type(layer).__name__}{sorted((key, str(value)) for key, value in settings.items())}"


def read(path: Path, fmt: Format) -> Anatomy:
    """Read a .keras file or a recipe's folder."""
    prepare(1, DEFAULT)
    nowhere = TensorSpec(name="", shape=(), dtype="float32")
    model = load_model(path, ModelInfo(format=fmt, input=nowhere, output=nowhere, output_kind="values"))
    tensors = [weight for layer in model.layers for weight in layer.weights if is_matrix(weight.shape)]
    return Anatomy(
        input=_spec(model.inputs[0]),
        output=_spec(model.outputs[0]),
        operators=[_operator(layer) for layer in model.layers],
        classifier=tensors[-1].numpy() if tensors else None,
    )
