"""Kinds ``localize`` and ``repair``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from deltann_engines.graphs import open_graph
from pydantic import TypeAdapter

from deltann.errors import DataError, JobFailure, first_line
from deltann.faults.edits import Edit
from deltann.faults.suspect import Suspect
from deltann.kinds.repair import LocalizeData, LocalizeParams, RepairData, RepairParams
from deltann.model import ModelInfo
from deltann.outcome import Outcome
from deltann.preprocess.shards import shard_inputs
from deltann.preprocess.steps import Recipe
from deltann.service import JobContext, Produced
from deltann_converter.repair.agreement import Judge, answers
from deltann_converter.repair.localising import localise
from deltann_converter.repair.repairing import SOUND, repair

_EDITS: TypeAdapter[list[Edit]] = TypeAdapter(list[Edit])
_SUSPECTS: TypeAdapter[list[Suspect]] = TypeAdapter(list[Suspect])
_LOOKED_AT = 2


def localize_model(params: LocalizeParams, context: JobContext) -> Produced:
    """Suspects over the worst inputs.

    Raises:
        JobFailure: ``repair_failed``, where the two cannot be held against each other.
    """
    pair = _pair(params, context)
    judged = pair.judge.of(pair.target)
    found: list[Suspect] = []
    looked_at = judged.worst[:_LOOKED_AT]
    for position in looked_at:
        found = pair.suspects(pair.model, position)
        if found:
            break
    sound = not found and not judged.differing and judged.error <= SOUND
    note = "" if found or sound else "The two disagree, and no node of the target is wrong by itself."
    path = context.workdir / "suspects.json"
    path.write_bytes(_SUSPECTS.dump_json(found))
    data = LocalizeData(agreement=judged.told(), inputs=tuple(looked_at), suspects=len(found), note=note)
    return Produced(artifacts={"suspects": context.put(path)}, data=data)


def repair_model(params: RepairParams, context: JobContext) -> Produced:
    """The target put right.

    Raises:
        JobFailure: ``repair_failed``, where the two cannot be held against each other.
    """
    import onnx

    pair = _pair(params, context)
    done = repair(pair.model, pair.judge, pair.suspects, context.workdir, params.seconds)
    model, patch = context.workdir / "model.onnx", context.workdir / "patch.json"
    onnx.save(done.model, model)
    patch.write_text(json.dumps(json.loads(_EDITS.dump_json(done.edits)), indent=1))
    data = RepairData(before=done.before.told(), after=done.after.told(), steps=tuple(done.steps), stopped=done.stopped)
    return Produced(artifacts={"model": context.put_weights(model), "patch": context.put(patch)}, data=data)


@dataclass
class _Pair:
    """Both sides, ready to be held against each other."""

    source: Any
    target: Path
    model: Any
    judge: Judge
    xs: Sequence[np.ndarray]
    ys: Sequence[np.ndarray]
    rights: Sequence[np.ndarray]
    workdir: Path
    looks: int = 0

    def suspects(self, model: Any, position: int) -> list[Suspect]:
        """Localise on one input."""
        self.looks += 1
        folder = self.workdir / f"values{self.looks}"
        return localise(self.source, self.xs[position], model, self.ys[position], folder, self.rights[position])


def _pair(params: LocalizeParams, context: JobContext) -> _Pair:
    import onnx

    xs = _inputs(params, context, params.source_recipe, params.source)
    ys = _inputs(params, context, params.target_recipe, params.target)
    rights = _inputs(params, context, params.source_recipe, params.target)
    path = context.fetch("source")
    try:
        expected = answers(path, params.source, xs)
        again = answers(path, params.source, xs[:1])
        source = open_graph(path, params.source)
        target = context.fetch("target")
        model = onnx.load(target)
    except Exception as error:
        raise _failure("load", f"a model could not be run: {first_line(error)}") from error
    if not np.isfinite(expected).all():
        bad = int((~np.isfinite(expected).all(axis=1)).sum())
        raise _failure("run", f"the source itself answers {bad} of {len(xs)} inputs with NaN or Inf: there is no right")
    if not np.allclose(again, expected[:1], rtol=1e-5, atol=1e-6):
        raise _failure("run", "the source answers one input in two ways: it is not deterministic, so nothing is right")
    if rights[0].shape != ys[0].shape:
        raise _failure(
            "run", f"the target takes {list(ys[0].shape)} and would be given {list(rights[0].shape)} as the source is"
        )
    return _Pair(
        source, target, model, Judge(expected, params.source, params.target, ys), xs, ys, rights, context.workdir
    )


def _inputs(params: LocalizeParams, context: JobContext, recipe: Recipe, info: ModelInfo) -> list[np.ndarray]:
    paths = [context.fetch(f"shard{place}") for place in range(params.shards)]
    try:
        return [x for path in paths for x in shard_inputs(path, params.data_kind, recipe, info.input)]
    except (DataError, ValueError) as error:
        raise _failure("preprocess", f"an input could not be prepared: {error}") from error


def _failure(stage: str, message: str) -> JobFailure:
    return JobFailure(Outcome.REPAIR_FAILED, stage, message)
