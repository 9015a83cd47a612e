"""What every engine can do, and where they are registered.

An engine is one module beside this one, ``<name>_engine``, with two functions: ``prepare(threads, options)`` imports
its framework and fixes its threads and whatever else holds for a whole process, ``load(path, info, threads, options) ->
Session`` prepares and loads. What it offers is its row in :data:`deltann.engines.ENGINES`. Importing
:mod:`deltann_engines` imports no framework.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Self

import numpy as np

from deltann.engines import DEFAULT, ENGINES, Engine, EngineOptions
from deltann.errors import NotFoundError
from deltann.fleet.board import board_address
from deltann.fleet.device import describe_device
from deltann.model import ModelInfo

ON_BOARD: dict[Engine, str] = {"tvm": "deltann_engines.tvm_remote"}
"""The same for a process whose device is a board that it drives from afar."""


class Session(ABC):
    """A loaded model, ready to run. Use it as a context manager.

    ``run`` is the public face: it checks the input and calls ``_run``, which is what ``time`` puts inside its clock.
    """

    info: ModelInfo

    @abstractmethod
    def _run(self, x: np.ndarray) -> np.ndarray:
        """One inference: input in the model's own layout and dtype, batch first; output as the model gives it."""

    def run(self, x: np.ndarray) -> np.ndarray:
        """The first output for a batch, as the model gives it (not dequantised, not aligned).

        Raises:
            ValueError: if shape or dtype are not the model's.
        """
        spec = self.info.input
        fits = len(x.shape) == len(spec.shape) and all(
            want is None or want == got for want, got in zip(spec.shape, x.shape, strict=True)
        )
        if not fits or str(x.dtype) != spec.dtype:
            raise ValueError(f"the model takes {spec.dtype}{list(spec.shape)}, not {x.dtype}{list(x.shape)}")
        return self._run(x)

    def time(self, x: np.ndarray) -> int:
        """Nanoseconds of one inference, which is all that is inside the clock; the input is not checked."""
        began = time.perf_counter_ns()
        self._run(x)
        return time.perf_counter_ns() - began

    @property
    def used(self) -> EngineOptions:
        """What the engine says that it runs the model with; nothing of what it does not tell."""
        return DEFAULT

    @property
    def device(self) -> str:
        """The processor that runs it."""
        return describe_device().cpu

    @property
    def local(self) -> bool:
        """Whether that is this process's own."""
        return True

    def close(self) -> None:
        """Release what the engine holds."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def prepare(engine: Engine, threads: int = 1, options: EngineOptions = DEFAULT) -> None:
    """Import an engine's framework and fix its threads and library: seconds that belong to no model's loading.

    Raises:
        NotFoundError: for an engine that is not registered.
        Exception: whatever the framework raises.
    """
    _module(engine).prepare(threads, options)


def load(engine: Engine, path: Path, info: ModelInfo, threads: int = 1, options: EngineOptions = DEFAULT) -> Session:
    """Load a model file (or folder, or compiled module) into an engine with a fixed number of threads.

    Options may hold for the whole process: other ones of the same engine belong into another process.

    Raises:
        NotFoundError: for an engine that is not registered.
        Exception: whatever the framework raises; the caller makes a finding of it.
    """
    session: Session = _module(engine).load(path, info, threads, options)
    return session


def _module(engine: Engine) -> ModuleType:
    if engine not in ENGINES:
        raise NotFoundError(f"There is no engine {engine!r}; there are {', '.join(ENGINES)}.")
    board = board_address()
    if board is None:
        return import_module(f"deltann_engines.{engine.replace('-', '_')}_engine")
    if engine not in ON_BOARD:
        raise NotFoundError(
            f"This executor drives the board at {board} over TVM RPC, which runs compiled modules (engine tvm) and no "
            f"{engine}: give its pool targets alone, and run {engine} in another pool"
        )
    return import_module(ON_BOARD[engine])
