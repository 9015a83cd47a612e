"""A model in its engine and its inputs ready to feed: kept warm from one job to the next of the same child."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from deltann_engines.base import Session, load, prepare

from deltann.data import read_shard
from deltann.digest import digest_value
from deltann.engines import ENGINES
from deltann.errors import DataError, JobFailure, UnsupportedError, first_line
from deltann.kinds.execute import ExecuteParams, TimeParams
from deltann.model import ModelInfo
from deltann.outcome import Outcome
from deltann.preprocess.apply import apply, decode, is_raw, to_model_input
from deltann.service import JobContext

Params = ExecuteParams | TimeParams


@dataclass(frozen=True)
class Loaded:
    """A session, its description, and how long loading took."""

    session: Session
    info: ModelInfo
    load_ms: float


def load_model(params: Params, context: JobContext) -> Loaded:
    """Load the job's model or module; the one that is loaded already is used again.

    Raises:
        JobFailure: where the engine cannot load it.
        UnsignedError: for a module that no compiler signed, where their keys are known.
    """
    role = "module" if ENGINES[params.engine].compiler else "model"
    info = _info(params, context, role)
    ref = context.ref(role)
    key = (params.engine, params.options, ref.digest, params.threads, info)  # one file may be declared in two ways
    if context.warm.get("model_key") == key:
        warm: Loaded = context.warm["model"]
        return warm
    _drop_model(context)
    path: Path = context.fetch_signed(role) if role == "module" else context.fetch(role)
    try:
        prepare(params.engine, params.threads, params.options)
        began = time.perf_counter()
        session = load(params.engine, path, info, params.threads, params.options)
    except Exception as error:
        outcome = Outcome.UNSUPPORTED if isinstance(error, UnsupportedError) else Outcome.RUN_FAILED
        raise JobFailure(outcome, "load", f"{params.engine} could not load {ref.name}: {first_line(error)}") from error
    loaded = Loaded(session, info, (time.perf_counter() - began) * 1e3)
    context.warm.update(model_key=key, model=loaded)
    return loaded


def _drop_model(context: JobContext) -> None:
    context.warm.pop("model_key", None)
    if (old := context.warm.pop("model", None)) is not None:
        old.session.close()


def _info(params: Params, context: JobContext, role: str) -> ModelInfo:
    if params.info is not None:
        return params.info
    return ModelInfo.model_validate(context.inputs[role].data["info"])


def load_inputs(params: Params, info: ModelInfo, context: JobContext, limit: int | None = None) -> list[np.ndarray]:
    """The shard's inputs, preprocessed, each a batch of 1 as the model takes it; the first ``limit`` where given.

    Raises:
        JobFailure: where an input cannot be made into what the model takes.
    """
    key = digest_value([context.ref("shard").digest, params.recipe, info.input, limit])
    if context.warm.get("inputs_key") != key:
        context.warm.pop("inputs_key", None)
        context.warm.pop("inputs", None)
        items: Any = read_shard(context.fetch("shard"), params.data_kind)
        if not len(items):
            raise JobFailure(Outcome.RUN_FAILED, "preprocess", "the shard holds no inputs: there is nothing to run")
        items = items if limit is None else items[:limit]
        context.warm.update(inputs_key=key, inputs=[_input(item, params, info) for item in items])
    inputs: list[np.ndarray] = context.warm["inputs"]
    return inputs


def _input(item: Any, params: Params, info: ModelInfo) -> np.ndarray:
    try:
        ready = apply(params.recipe, decode(item)) if params.data_kind == "images" else item
        x = to_model_input(ready, info.input, raw=is_raw(params.recipe))
    except (DataError, ValueError) as error:
        raise JobFailure(Outcome.RUN_FAILED, "preprocess", f"an input could not be prepared: {error}") from error
    wanted = info.input.shape[1:]
    if len(wanted) != x.ndim - 1 or any(want not in (None, got) for want, got in zip(wanted, x.shape[1:], strict=True)):
        raise JobFailure(
            Outcome.RUN_FAILED,
            "preprocess",
            f"the model takes inputs of {list(wanted)} but preprocessing {params.recipe.name!r} makes "
            f"{list(x.shape[1:])}: choose a recipe for this input size",
        )
    return x


def run_failure(params: Params, error: Exception, position: int) -> JobFailure:
    """What a failed inference becomes."""
    return JobFailure(Outcome.RUN_FAILED, "run", f"{params.engine} failed on input {position}: {first_line(error)}")
