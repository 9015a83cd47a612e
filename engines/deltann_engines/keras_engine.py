"""Keras: .keras files, and converted models that are rebuilt from their ONNX and recipe."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from deltann.engines import EngineOptions
from deltann.model import ModelInfo
from deltann_engines.base import Session
from deltann_engines.tensorflow_engine import fix_process, library


class KerasSession(Session):
    """A Keras model traced once as a TensorFlow function: what ``predict`` runs, without its loop over batches."""

    def __init__(self, model: Any, info: ModelInfo) -> None:
        import tensorflow as tf

        self.info = info
        self._function = tf.function(lambda x: model(x, training=False), jit_compile=False)

    def _run(self, x: np.ndarray) -> np.ndarray:
        result = self._function(x)
        if isinstance(result, dict):
            result = list(result.values())
        first = result[0] if isinstance(result, list | tuple) else result
        array: np.ndarray = first.numpy()
        return array

    @property
    def used(self) -> EngineOptions:
        """The library that TensorFlow is on in this process."""
        return EngineOptions(library=library())


def load_model(path: Path, info: ModelInfo) -> Any:
    """The ``keras.Model`` of a .keras file (safe mode: no code runs) or of a recipe's folder."""
    if info.format == "keras_recipe":
        from deltann_engines.keras_recipe import build

        return build(path)
    import keras

    return keras.models.load_model(path, compile=False, safe_mode=True)


def prepare(threads: int, options: EngineOptions) -> None:
    """Import Keras on TensorFlow, whatever backend the user's own settings name, and fix its threads and library."""
    os.environ["KERAS_BACKEND"] = "tensorflow"
    fix_process(threads, options)
    import keras  # noqa: F401


def load(path: Path, info: ModelInfo, threads: int, options: EngineOptions) -> Session:
    """Load, or rebuild, a Keras model."""
    prepare(threads, options)
    return KerasSession(load_model(path, info), info)
