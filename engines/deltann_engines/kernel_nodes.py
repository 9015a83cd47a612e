"""The debug map of a module: it and its model run on one input, and their values are laid side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deltann.layers.graph import Node
from deltann.layers.kernels import KernelMap, kernel_map
from deltann.layers.match import match_values
from deltann.layers.signature import Signature, signature
from deltann.model import ModelInfo
from deltann_engines.graphs import Graph
from deltann_engines.kernels import trace_module
from deltann_engines.trace import Layer, trace


def map_kernels(graph: Graph, module: Path, info: ModelInfo, x: np.ndarray) -> KernelMap:
    """Which nodes of a model each kernel of a module of it computes.

    Args:
        graph: of the model.
        module: compiled from it.
        info: of the module.
        x: an input that both take, a batch of 1; seeded noise, so that no two values are alike by chance.

    Raises:
        Exception: whatever the model's framework or TVM raises.
    """
    source: dict[str, Signature] = {}
    target: dict[str, Signature] = {}
    kernels: list[Node] = []

    def take(layer: Layer) -> None:
        kernels.append(layer.node)
        target[layer.output] = signature(layer.values)

    trace(graph, x, lambda layer: source.__setitem__(layer.output, signature(layer.values)))
    trace_module(module, info, x, take)
    return kernel_map(graph.nodes, kernels, match_values(source, target))
