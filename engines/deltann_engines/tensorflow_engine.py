"""TensorFlow: SavedModel folders, by their serving signature."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from deltann.engines import EngineOptions
from deltann.model import ModelInfo
from deltann_engines.base import Session

_ONEDNN = "TF_ENABLE_ONEDNN_OPTS"
"""Read once, when TensorFlow is imported. Without it TensorFlow goes by the processor."""


def fix_process(threads: int, options: EngineOptions) -> None:
    """Set TensorFlow's threads and library, which it takes only before it has run anything in this process.

    Raises:
        RuntimeError: where it has run already with another number of threads or another library.
    """
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", str(threads))
    os.environ.setdefault("TF_NUM_INTEROP_THREADS", "1")
    os.environ.setdefault(_ONEDNN, "1")  # on every processor: only oneDNN has NCHW convolutions
    if options.library is not None:
        os.environ[_ONEDNN] = str(int(options.library == "onednn"))
    import tensorflow as tf

    if options.library not in (None, library()):
        raise RuntimeError(f"TensorFlow runs in this process with {library()}, which cannot be changed any more")
    try:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    except RuntimeError:
        running = tf.config.threading.get_intra_op_parallelism_threads() or int(os.environ["TF_NUM_INTRAOP_THREADS"])
        if running != threads:
            raise


def library() -> str:
    """The kernels that TensorFlow says it runs with: ``onednn`` or ``eigen``."""
    from tensorflow.python.util import _pywrap_util_port

    return "onednn" if _pywrap_util_port.IsMklEnabled() else "eigen"


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

    @property
    def used(self) -> EngineOptions:
        """The library that this process is on."""
        return EngineOptions(library=library())


def prepare(threads: int, options: EngineOptions) -> None:
    """Import TensorFlow and fix its threads and library."""
    fix_process(threads, options)


def load(path: Path, info: ModelInfo, threads: int, options: EngineOptions) -> Session:
    """Load a SavedModel folder."""
    prepare(threads, options)
    import tensorflow as tf

    return SavedModelSession(tf.saved_model.load(str(path)), info)
