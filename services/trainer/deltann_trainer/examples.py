"""What a network is trained on: the shards of a data set as arrays, and the order of its batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltann.data import read_shard
from deltann.errors import DataError
from deltann.kinds.resolve import DataManifest
from deltann.networks import Network, TokenInput
from deltann.preprocess.apply import apply, decode
from deltann.preprocess.steps import Recipe
from deltann.service import JobContext
from deltann_trainer.learner import Inputs, Labels

_VALIDATION_SEED = 0


@dataclass(frozen=True)
class Examples:
    """Inputs with their classes."""

    x: Inputs
    y: Labels

    def __len__(self) -> int:
        return len(self.y)

    def parted(self, share: float) -> tuple[Examples, Examples]:
        """Those that are trained on, at least one, and the share that is kept for validation: always the same ones."""
        order = np.random.default_rng(_VALIDATION_SEED).permutation(len(self))
        kept = min(round(len(self) * share), len(self) - 1)
        rows = np.sort(order[kept:]), np.sort(order[:kept])
        return Examples(self.x[rows[0]], self.y[rows[0]]), Examples(self.x[rows[1]], self.y[rows[1]])

    def batches(self, size: int, seed: int, epoch: int, *, shuffle: bool = True) -> Iterator[tuple[Inputs, Labels]]:
        """The batches of an epoch; their order depends on seed and epoch alone, so that it is the same everywhere."""
        order = np.arange(len(self))
        if shuffle:
            order = np.random.default_rng([seed, epoch]).permutation(len(self))
        for start in range(0, len(self), size):
            rows = order[start : start + size]
            yield self.x[rows], self.y[rows]


def read_examples(network: Network, recipe: Recipe, context: JobContext) -> Examples:
    """The examples of role ``data``, as the network takes them.

    Raises:
        DataError: for inputs without labels or with labels that the network has no class for, and for inputs of another
            shape than it takes.
    """
    manifest = DataManifest.model_validate(context.inputs["data"].data["manifest"])
    parts = []
    for shard in manifest.shards:
        items: Any = read_shard(context.store.materialise(shard.blob, context.cache), manifest.kind)
        parts.append(np.stack([apply(recipe, decode(item)) for item in items]) if manifest.kind == "images" else items)
    x = np.concatenate(parts)
    if x.shape[1:] != network.input.shape:
        raise DataError(
            f"{network.name} is trained on inputs of {list(network.input.shape)}, and the data with the preprocessing "
            f"{recipe.name!r} has {list(x.shape[1:])}. Name another data set or recipe."
        )
    unknown = [label for label in manifest.labels if label is None or label >= network.classes]
    if unknown:
        raise DataError(
            f"{len(unknown)} of the {manifest.n} inputs have no label that {network.name} has a class for (it has "
            f"{network.classes}). Give every input a class number from 0 to {network.classes - 1}."
        )
    dtype = np.int32 if isinstance(network.input, TokenInput) else np.float32
    return Examples(x.astype(dtype, copy=False), np.array(manifest.labels, np.int64))
