"""A target as it runs, layer by layer, beside its source on the same input."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from deltann_engines.graphs import Graph
from deltann_engines.recording import Recording
from deltann_engines.trace import Layer, trace

from deltann.layers.layout import layouts, relative_error
from deltann.layers.statistics import Statistics, statistics


@dataclass(frozen=True)
class Way:
    """Which value of the source an output of the target is, and in the how-manieth of the layouts that fit."""

    source: str
    layout: int


@dataclass(frozen=True)
class Seen:
    """What one input showed, by outputs of the target; ``kept`` are tensors of source and target, in one layout."""

    errors: dict[str, float] = field(default_factory=dict)
    right: dict[str, Statistics] = field(default_factory=dict)
    found: dict[str, Statistics] = field(default_factory=dict)
    kept: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)


def watch(
    source: Graph,
    target: Graph,
    x: np.ndarray,
    y: np.ndarray,
    ways: Mapping[str, Way],
    keep: Collection[str],
    folder: Path,
) -> Seen:
    """Run both models on one input. A target that cannot be run to its end tells as far as it came.

    Memory holds one layer of either model, and the tensors that are kept; the source's values are on disk meanwhile.

    Args:
        source: the model as it should be.
        target: the one that is held against it.
        x: the input as the source takes it.
        y: the same as the target takes it.
        ways: for the outputs that are compared.
        keep: outputs whose tensors are wanted.
        folder: for the source's values; it is made, and removed afterwards.
    """
    recording, seen = Recording(source, x, folder), Seen()

    def take(layer: Layer) -> None:
        way = ways.get(layer.output)
        if way is None:
            return
        fitting = list(layouts(recording.value(way.source), layer.values.shape))
        seen.found[layer.output] = statistics(layer.values)
        if way.layout >= len(fitting):  # its sides are wrong too
            seen.errors[layer.output] = float("inf")
            seen.right[layer.output] = statistics(recording.value(way.source))
            return
        right = fitting[way.layout]
        seen.errors[layer.output] = relative_error(right, layer.values)
        seen.right[layer.output] = statistics(right)
        if layer.output in keep:
            seen.kept[layer.output] = (np.array(right), np.array(layer.values))

    try:
        with suppress(Exception):  # what the framework says of the node that failed is known from the replay
            trace(target, y, take)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return seen
