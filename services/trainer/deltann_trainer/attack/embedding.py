"""The vectors that a model has learnt for its words."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from deltann.errors import JobFailure
from deltann.outcome import Outcome
from deltann_trainer.attack.attacking import Array
from deltann_trainer.attack.subject import Subject


def embedding(subject: Subject) -> Array:
    """float32 [tokens, dimensions] of the first embedding of a Keras or PyTorch model.

    Raises:
        JobFailure: ``run_failed`` for a model without one.
    """
    find = {"keras": _of_keras, "pytorch": _of_torch}.get(subject.info.framework)
    found = None if find is None or subject.info.format == "torchscript" else find(subject)
    if found is None:
        raise JobFailure(
            Outcome.RUN_FAILED,
            "attack",
            "the genetic attack takes its substitutes from the embedding of a .keras or .pt2 model, and none was found "
            f"in this one of {subject.info.framework}: name models that have one",
        )
    return found


def _of_keras(subject: Subject) -> Array | None:
    import keras
    from deltann_engines.keras_engine import load_model

    layers = load_model(subject.path, subject.info)._flatten_layers()
    found = next((layer for layer in layers if isinstance(layer, keras.layers.Embedding)), None)
    return None if found is None else np.asarray(found.get_weights()[0])


def _of_torch(subject: Subject) -> Array | None:
    from deltann_engines.torch_engine import load_program

    module = load_program(subject.path).module()
    for node in module.graph.nodes:
        if node.op == "call_function" and str(node.target) == "aten.embedding.default":
            weights: Any = reduce(getattr, str(node.args[0].target).split("."), module)
            return np.asarray(weights.detach().numpy())
    return None
