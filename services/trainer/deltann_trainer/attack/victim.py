"""A trained model's file as a victim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deltann.engines import DEFAULT
from deltann.model import ModelInfo
from deltann_trainer.attack.base import Inputs, Scores, Victim, refused


def load_victim(path: Path, info: ModelInfo, bounds: tuple[float, float], threads: int) -> Victim:
    """Load a ``.keras`` file or a ``.pt2`` program that gives logits.

    Raises:
        JobFailure: ``run_failed`` for a model of another format, or one that gives probabilities.
    """
    if info.format not in ("keras", "pt2"):
        raise refused(
            f"An attack was asked of a model in the format {info.format}, which has no gradients. Name the Keras or "
            "PyTorch model that it was converted from."
        )
    if info.output_kind != "logits":
        raise refused(
            f"An attack was asked of a model that gives {info.output_kind}; the gradient of its loss is that of "
            "logits. Save the model without its last softmax."
        )
    return _keras(path, bounds, threads) if info.format == "keras" else _pytorch(path, bounds, threads)


def _keras(path: Path, bounds: tuple[float, float], threads: int) -> Victim:
    from deltann_engines import keras_engine

    keras_engine.prepare(threads, DEFAULT)
    import keras

    model: Any = keras.saving.load_model(path, compile=False, safe_mode=True)

    def predict(inputs: Inputs) -> Scores:
        return np.asarray(model(inputs, training=False), np.float32)

    tables = [layer.get_weights()[0] for layer in model.layers if isinstance(layer, keras.layers.Embedding)]
    return Victim("keras", predict, model, bounds, tables[0] if tables else None)


def _pytorch(path: Path, bounds: tuple[float, float], threads: int) -> Victim:
    from deltann_engines import torch_engine

    torch_engine.prepare(threads, DEFAULT)
    import torch

    program = torch.export.load(path)
    model: Any = program.module()
    model.training = False  # an exported program is in evaluation, and refuses to be told so

    def predict(inputs: Inputs) -> Scores:
        with torch.no_grad():
            found: Scores = model(torch.from_numpy(np.ascontiguousarray(inputs))).numpy()
        return found

    tables = [
        program.state_dict[node.args[0].target].detach().numpy()
        for node in model.graph.nodes
        if node.target is torch.ops.aten.embedding.default and node.args[0].target in program.state_dict
    ]
    return Victim("pytorch", predict, model, bounds, tables[0] if tables else None)
