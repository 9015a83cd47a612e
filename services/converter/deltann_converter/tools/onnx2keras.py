"""ONNX to Keras, by onnx2keras, kept as a recipe (see :mod:`deltann_engines.keras_recipe`)."""

from __future__ import annotations

from pathlib import Path

from deltann_engines import keras_recipe
from deltann_engines.onnx_normalise import FOR_KERAS, normalise

from deltann.model import ModelInfo
from deltann_converter.tools.base import Made, Options, Tool


def convert(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """Write the recipe and build it once, so that a model that cannot be built fails here.

    An NCHW model's channels are moved last; one that tf2onnx made of an NHWC model has its transposes inside already.
    """
    import onnx

    model = onnx.load(path)
    changes = normalise(model, FOR_KERAS) if options.normalise else []
    made = out / "model"
    keras_recipe.write(made, model, change_ordering=info.input.layout == "NCHW")
    keras_recipe.build(made)
    return Made(made, "keras_recipe", changes)


TOOLS = (
    Tool("onnx2keras", ("onnx2keras", "keras", "tensorflow", "onnx"), "onnx", "keras", ("onnx",), "onnx", convert),
)
