"""Kind ``attack``: an adversarial set made on a model before conversion."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltann.data import read_shard
from deltann.data.npz import read_npz
from deltann.data.shards import write_tensor_shard
from deltann.kinds.attack import AttackData, AttackParams
from deltann.kinds.resolve import DataManifest
from deltann.preprocess.apply import apply, decode
from deltann.service import JobContext, Produced
from deltann_trainer.attack.base import Inputs, Labels, refused
from deltann_trainer.attack.table import make
from deltann_trainer.attack.victim import load_victim

_SCORED = 64


def attack(params: AttackParams, context: JobContext) -> Produced:
    """Make an adversarial set.

    Raises:
        JobFailure: ``run_failed`` where the attack is not one for this model or data, and where no input was classified
            rightly by all.
    """
    began = time.monotonic()
    manifest = DataManifest.model_validate(context.inputs["data"].data["manifest"])
    classes = np.array([-1 if label is None else label for label in manifest.labels], np.int64)
    right = np.flatnonzero(_right(params, context, classes))
    positions = right[: params.n]
    if not len(positions):
        raise refused(
            "No input of the data set is classified rightly by the model and everything it was converted into, so "
            "there is nothing to attack. Train the model longer, or see what its conversion did to it."
        )
    threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    victim = load_victim(context.fetch("model"), params.info, params.bounds, threads)
    clean, labels = _inputs(params, context, manifest)[positions], classes[positions]
    first = params.info.input.layout == "NCHW"
    own = np.ascontiguousarray(clean.transpose(0, 3, 1, 2)) if first else clean
    found = make(params.attack, victim, own, labels, seed=params.seed, budget_seconds=params.budget_seconds)
    after = np.concatenate([victim.predict(found.inputs[at : at + _SCORED]) for at in range(0, len(own), _SCORED)])
    changed = np.ascontiguousarray(found.inputs.transpose(0, 2, 3, 1)) if first else found.inputs
    data = AttackData(
        right=len(right),
        n=len(positions),
        tried=int(found.tried.sum()),
        succeeded=int(((after.argmax(axis=1) != labels) & found.tried).sum()),
        over=found.over,
        seconds=time.monotonic() - began,
    )
    path, shard = context.workdir / "set.npz", context.workdir / "shard.npy"
    np.savez(path, inputs=changed, clean=clean, labels=labels, positions=positions, tried=found.tried)
    write_tensor_shard(shard, changed)
    return Produced(artifacts={"set": context.put(path), "shard": context.put(shard)}, data=data)


def _right(params: AttackParams, context: JobContext, classes: Labels) -> NDArray[np.bool_]:
    """Which inputs have a class that is the first label in every role of the answers."""
    wrong = classes < 0
    for one in params.answers:
        path = context.store.materialise(context.inputs[one.role].artifacts["outputs"], context.cache)
        labels = read_npz(path, f"the answers {one.role}", ("labels",))["labels"][:, 0]
        wrong[one.start : one.stop] |= labels != classes[one.start : one.stop]
    return ~wrong


def _inputs(params: AttackParams, context: JobContext, manifest: DataManifest) -> Inputs:
    parts = []
    for shard in manifest.shards:
        items: Any = read_shard(context.store.materialise(shard.blob, context.cache), manifest.kind)
        if manifest.kind == "images":
            items = np.stack([apply(params.recipe, decode(item)) for item in items])
        parts.append(items)
    return np.concatenate(parts)
