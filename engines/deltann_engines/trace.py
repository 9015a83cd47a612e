"""Debug execution: a model layer by layer, every output handed on as soon as it is there.

Memory is bounded by the graph, not by its depth: a value is let go after its last reader, so that what is held is the
largest set of values alive at once, the parameters, and one copy of the output that is handed on.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deltann.layers.graph import Node
from deltann_engines.graphs import Graph


@dataclass(frozen=True)
class Layer:
    """One output of one node as it ran.

    Args:
        index: of the node, in order of execution.
        node: what ran.
        output: name of the value.
        values: of the framework's own shape, layout and dtype.
        ns: nanoseconds of the node by itself, one run, its call included: for comparing layers with each other, not
            with an undisturbed inference.
    """

    index: int
    node: Node
    output: str
    values: np.ndarray
    ns: int


def trace(graph: Graph, x: np.ndarray, sink: Callable[[Layer], None]) -> np.ndarray:
    """Run a graph node by node.

    Args:
        x: input in the model's own layout and dtype, batch first.
        sink: is given every output that is a tensor, in order of execution.

    Returns:
        The model's first output.

    Raises:
        Exception: whatever the framework raises.
    """
    last = {name: index for index, node in enumerate(graph.nodes) for name in node.inputs}
    values = {graph.feed: graph.wrap(graph.feed, x)}
    for index, node in enumerate(graph.nodes):
        call = graph.ready(node, [values[name] for name in node.inputs])
        began = time.perf_counter_ns()
        found = call()
        ns = time.perf_counter_ns() - began
        del call  # it holds the inputs
        for name, value in zip(node.outputs, found, strict=True):
            array = graph.unwrap(name, value)
            if array is not None:
                sink(Layer(index, node, name, array, ns))
            if last.get(name, -1) > index or name == graph.result:
                values[name] = value
        for name in node.inputs:
            if last[name] == index and name != graph.result:
                values.pop(name, None)
    result = graph.unwrap(graph.result, values[graph.result])
    if result is None:
        raise ValueError(f"the output {graph.result} is no tensor")
    return result
