"""CoreML itself, through coremltools on macOS. Not yet run: see docs/not-yet-run.md."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import numpy as np

from deltann.engines import EngineOptions
from deltann.errors import NotFoundError
from deltann.model import ModelInfo
from deltann_engines.base import Session


class CoremlSession(Session):
    """A compiled model on the processor alone, so that results do not depend on which units a Mac has."""

    def __init__(self, model: Any, info: ModelInfo) -> None:
        self.info = info
        self._model = model

    def _run(self, x: np.ndarray) -> np.ndarray:
        result: np.ndarray = self._model.predict({self.info.input.name: x})[self.info.output.name]
        return result

    @property
    def used(self) -> EngineOptions:
        """The compute units that were asked for, as the loaded model says."""
        return EngineOptions(library=str(self._model.compute_unit.name).lower())


def prepare(threads: int, options: EngineOptions) -> None:
    """Import coremltools.

    Raises:
        NotFoundError: on anything but macOS.
    """
    if platform.system() != "Darwin":
        raise NotFoundError(
            f"CoreML predicts on macOS alone, and this worker runs on {platform.system()}: start a worker on a Mac in "
            "a pool of its own (`deltann worker executor --pool macos`) and name that pool in the study, or take the "
            "engine own, which here is mil-reference, DeltaNN's evaluator and not CoreML."
        )
    import coremltools  # noqa: F401


def load(path: Path, info: ModelInfo, threads: int, options: EngineOptions) -> Session:
    """Have CoreML compile and load a package.

    Raises:
        NotFoundError: on anything but macOS.
    """
    prepare(threads, options)
    import coremltools

    model = coremltools.models.MLModel(_named(path), compute_units=coremltools.ComputeUnit.CPU_ONLY)
    return CoremlSession(model, info)


def _named(path: Path) -> str:
    """The package under a name that coremltools knows it by; the store's own names have no ending."""
    if path.suffix == ".mlpackage":
        return str(path)
    link = path.with_name(f"{path.name}.mlpackage")
    if not link.exists():
        link.symlink_to(path, target_is_directory=True)
    return str(link)
