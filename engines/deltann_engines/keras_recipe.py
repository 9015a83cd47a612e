"""A converted Keras model: the ONNX that it was made of and the recipe of its making, rebuilt when loaded.

What onnx2keras builds cannot be loaded again from a .keras file (its functions are not registered), so the folder of a
recipe holds ``model.onnx``, as the converter reads it, and ``recipe.json`` with the converter's options.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from deltann_engines.channels_first import compute_channels_last

MODEL = "model.onnx"
RECIPE = "recipe.json"


def write(folder: Path, model: Any, *, change_ordering: bool) -> None:
    """Write a recipe's folder.

    Args:
        folder: made if it is not there.
        model: ``onnx.ModelProto`` as the converter is to read it.
        change_ordering: whether an NCHW model becomes an NHWC one.
    """
    import onnx

    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / MODEL)
    (folder / RECIPE).write_text(json.dumps({"tool": "onnx2keras", "change_ordering": change_ordering}))


def build(folder: Path) -> Any:
    """The ``keras.Model`` of a recipe's folder.

    Raises:
        Exception: whatever onnx2keras raises.
    """
    import keras
    import onnx
    from onnx2keras import onnx_to_keras

    logging.getLogger("onnx2keras").setLevel(logging.ERROR)
    options = json.loads((folder / RECIPE).read_text())
    model = onnx.load(folder / MODEL)
    held = {tensor.name for tensor in model.graph.initializer}
    inputs = [value.name for value in model.graph.input if value.name not in held]
    ordering = keras.config.image_data_format()
    try:
        built = onnx_to_keras(model, inputs, verbose=False, change_ordering=options["change_ordering"])
        return compute_channels_last(built)
    finally:  # where onnx2keras fails, it leaves channels_first behind, for every model after it in this process
        keras.config.set_image_data_format(ordering)
