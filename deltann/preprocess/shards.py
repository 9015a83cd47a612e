"""The inputs of a shard as a model takes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from deltann.data import read_shard
from deltann.model import TensorSpec
from deltann.preprocess.apply import Array, apply, decode, is_raw, to_model_input
from deltann.preprocess.steps import Recipe


def shard_inputs(path: Path, kind: str, recipe: Recipe, spec: TensorSpec) -> Iterator[Array]:
    """Each input of a shard, a batch of 1 in the model's own layout and type.

    Args:
        path: of the shard.
        kind: of the data: photos go through the recipe, whatever else is as the model takes it.
        recipe: how a photo is prepared.
        spec: the model's input.

    Raises:
        DataError: for what is no photo, or a crop larger than it.
        ValueError: for an input of other sides than the model's.
    """
    for item in read_shard(path, kind):
        ready = apply(recipe, decode(item)) if isinstance(item, bytes) else item
        yield to_model_input(ready, spec, raw=is_raw(recipe))
