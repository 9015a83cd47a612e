"""TensorFlow: SavedModel folders, by their serving signature."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from deltann.model import ModelInfo
from deltann_engines.base import Session


def fix_threads(threads: int) -> None:
    """Set TensorFlow's threads, which it takes only before it has run anything in this process.

    Raises:
        RuntimeError: where it has run already with another number.
    """
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", str(threads))
    os.environ.setdefault("TF_NUM_INTEROP_THREADS", "1")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # on every processor: only oneDNN has NCHW convolutions
    import tensorflow as tf

    try:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    except RuntimeError:
        running = tf.config.threading.get_intra_op_parallelism_threads() or int(os.environ["TF_NUM_INTRAOP_THREADS"])
        if running != threads:
            raise


class SavedModelSession(Session):
    """The function behind ``serving_default``."""

    def __init__(self, loaded: Any, info: ModelInfo) -> None:
        self.info = info
        self._loaded = loaded  # the function holds its variables by weak references only
        self._function = loaded.signatures["serving_default"]
        self._input = next(iter(self._function.structured_input_signature[1]))
        self._output = next(iter(sorted(self._function.structured_outputs)))

    def _run(self, x: np.ndarray) -> np.ndarray:
        import tensorflow as tf

        array: np.ndarray = self._function(**{self._input: tf.constant(x)})[self._output].numpy()
        return array


def prepare(threads: int) -> None:
    """Import TensorFlow and fix its threads."""
    fix_threads(threads)


def load(path: Path, info: ModelInfo, threads: int) -> Session:
    """Load a SavedModel folder."""
    prepare(threads)
    import tensorflow as tf

    return SavedModelSession(tf.saved_model.load(str(path)), info)
