"""CoreML packages by DeltaNN's own evaluator of MIL: a stand-in where CoreML itself cannot run, and not CoreML."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deltann.engines import EngineOptions, shown
from deltann.model import ModelInfo
from deltann_engines.base import Session
from deltann_engines.mil.evaluate import check, evaluate
from deltann_engines.mil.program import Program, read
from deltann_engines.mil.tools import coremltools


class MilSession(Session):
    """A program held as plain data."""

    def __init__(self, program: Program, info: ModelInfo) -> None:
        self.info = info
        self._program = program

    def _run(self, x: np.ndarray) -> np.ndarray:
        return evaluate(self._program, {self._program.inputs[0].name: x})[self._program.outputs[0].name]

    @property
    def used(self) -> EngineOptions:
        """What it is, in every result."""
        return EngineOptions(library=shown("mil-reference"))


def prepare(threads: int, options: EngineOptions) -> None:
    """Import coremltools, whose classes read the specification."""
    coremltools()


def load(path: Path, info: ModelInfo, threads: int, options: EngineOptions) -> Session:
    """Read and check a package.

    Raises:
        ModelError: for a damaged one.
        UnsupportedError: for operations that the evaluator does not know.
    """
    program = read(path)
    check(program)
    return MilSession(program, info)
