"""Kinds ``execute`` (labels of a shard of inputs) and ``time`` (timings of one variant)."""

from __future__ import annotations

import operator

from pydantic import Field

from deltann.base import Data
from deltann.engines import DEFAULT, Engine, EngineOptions, are_default
from deltann.model import ModelInfo, OutputKind
from deltann.preprocess.steps import Recipe


class ExecuteParams(Data):
    """Run role ``model`` (a model or a compiled module; need or source) over role ``shard`` (a source), batch 1.

    Artifacts out: ``outputs``, an ``.npz`` with, for the n inputs of the shard:
    ``labels`` int32 [n, k] top-k class ids after the background class is dropped, ties to the lowest index;
    ``scores`` float32 [n, k]; ``valid`` bool [n] (False where an output is NaN or Inf, its labels then −1);
    ``outputs`` float32 [n, classes], aligned, only where ``keep_outputs``.
    Data out: :class:`ExecuteData`. Any invalid output makes the outcome ``invalid_output``.
    """

    engine: Engine
    options: EngineOptions = Field(default=DEFAULT, exclude_if=are_default)
    info: ModelInfo | None = None
    recipe: Recipe
    data_kind: str = "images"
    start: int
    stop: int
    whole: bool = Field(
        default=False, exclude_if=operator.not_, description="All inputs, `stop` at most: an adversarial set"
    )
    k: int = 5
    keep_outputs: bool = True
    threads: int = 1
    pool: str = "cpu"


class ExecuteData(Data):
    """``space`` is what ``scores`` and ``outputs`` are in, after alignment.

    The memory of a board that is driven over RPC is not known. ``used`` is what the engine says of itself.
    """

    n: int
    n_invalid: int
    space: OutputKind
    classes: int | None
    load_ms: float
    memory_peak_bytes: int | None
    threads: int
    device: str
    used: EngineOptions = DEFAULT


class TimeParams(Data):
    """Time role ``model`` on the first ``inputs`` inputs of role ``shard``, each ``repeats`` times, batch 1.

    Artifacts out: ``times``, an ``.npz``: ``ns`` int64 [inputs, repeats], ``first_ns`` int64 scalar (the very first
    inference, before warm-up). Data out: :class:`TimeData`. Only the inference is inside the clock.
    """

    engine: Engine
    options: EngineOptions = Field(default=DEFAULT, exclude_if=are_default)
    info: ModelInfo | None = None
    recipe: Recipe
    data_kind: str = "images"
    inputs: int = 10
    repeats: int = 10
    warmup: int = 3
    threads: int = 1
    pool: str = "cpu"


class TimeData(Data):
    """What was fixed while timing. ``affinity`` are the cores the inference was pinned to.

    A board that is driven over RPC pins nothing and tells no memory; ``first_ns`` then has the network in it, and no
    other time has. ``used`` is as in :class:`ExecuteData`.
    """

    n: int
    batch: int = 1
    load_ms: float
    memory_peak_bytes: int | None
    threads: int
    affinity: list[int]
    device: str
    used: EngineOptions = DEFAULT
