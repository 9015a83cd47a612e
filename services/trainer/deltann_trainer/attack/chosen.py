"""The inputs that are attacked: those that the model classifies rightly."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltann.data import read_shard
from deltann.kinds.attack import AttackParams, Genetic
from deltann.kinds.resolve import DataManifest
from deltann.preprocess.apply import apply, decode
from deltann.service import JobContext
from deltann_trainer.attack.attacking import Array
from deltann_trainer.attack.words import FEWEST_WORDS, MOST_WORDS, lengths


@dataclass(frozen=True)
class Chosen:
    """Inputs as a recipe makes them, their classes and their places in the data set; ``right`` had been to choose from.

    ``words`` are the tokens that occur in the data set, for inputs that are words.
    """

    x: Array
    y: NDArray[np.int64]
    rows: NDArray[np.int64]
    right: int
    words: frozenset[int] = frozenset()


def choose(params: AttackParams, manifest: DataManifest, context: JobContext) -> Chosen:
    """Draw inputs by the attack's seed, in the order of the data set."""
    labels = _answers(params, context)
    shards: dict[int, Array] = {}

    def shard(number: int) -> Array:
        if number not in shards:
            one = manifest.shards[number]
            items: Any = read_shard(context.store.materialise(one.blob, context.cache), manifest.kind)
            photos = manifest.kind == "images"
            shards[number] = np.stack([apply(params.recipe, decode(item)) for item in items]) if photos else items
        return shards[number]

    true = np.array([-2 if label is None else label for label in manifest.labels], np.int64)[: len(labels)]
    right = np.flatnonzero(labels == true)
    words: frozenset[int] = frozenset()
    if isinstance(params.attack, Genetic):
        tokens = np.concatenate([shard(number) for number in range(params.answers)])
        words = frozenset(np.unique(tokens).tolist())
        count = lengths(tokens)[right]
        right = right[(count >= FEWEST_WORDS) & (count <= MOST_WORDS)]
    random = np.random.default_rng(params.attack.seed)
    rows = np.sort(random.permutation(right)[: params.attack.inputs])
    place = {row: (number, row - one.start) for number, one in enumerate(manifest.shards[: params.answers])
             for row in range(one.start, one.stop)}  # fmt: skip
    picked = [shard(number)[at] for number, at in (place[int(row)] for row in rows)]
    return Chosen(np.stack(picked) if picked else np.empty(0), true[rows], rows, len(right), words)


def _answers(params: AttackParams, context: JobContext) -> NDArray[np.int64]:
    """int64 [n]: the first label that the model gave to each input, −1 where its answer was invalid."""
    parts = []
    for number in range(params.answers):
        ref = context.inputs[f"outputs{number}"].artifacts["outputs"]
        with np.load(io.BytesIO(context.store.read(ref)), allow_pickle=False) as file:
            parts.append(np.where(file["valid"], file["labels"][:, 0], -1).astype(np.int64))
    return np.concatenate(parts)
