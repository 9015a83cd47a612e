"""The format of a model file by its content, not its name."""

from __future__ import annotations

from pathlib import Path

from deltann.errors import JobFailure, ModelError
from deltann.model import Format
from deltann.modelfile import inspect
from deltann.outcome import Outcome


def detect_format(path: Path) -> Format:
    """The format of a model file, a SavedModel folder, or a folder of one ONNX file and its data files.

    Raises:
        JobFailure: ``run_failed`` for anything else, saying what can be read; a pickle is refused, since it runs code.
    """
    try:
        return inspect(path, path.name).format
    except ModelError as error:
        raise JobFailure(Outcome.RUN_FAILED, "detect", str(error)) from error
