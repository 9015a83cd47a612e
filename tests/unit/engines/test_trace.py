"""The walk over a graph, on graphs of plain NumPy functions."""

import weakref

import numpy as np
import pytest
from deltann_engines.graphs import Graph
from deltann_engines.trace import trace

from deltann.layers.graph import Node


class Value:
    """An array that can be watched: plain arrays that are views cannot tell when they go."""

    alive: "weakref.WeakSet[Value]" = weakref.WeakSet()

    def __init__(self, array):
        self.array = array
        Value.alive.add(self)


class Functions(Graph):
    """Nodes that are NumPy functions of their inputs."""

    def __init__(self, nodes, functions, result):
        self.nodes, self.functions, self.feed, self.result = tuple(nodes), functions, "x", result
        self.most_alive = 0

    def ready(self, node, values):
        def call():
            found = self.functions[node.name](*[value.array for value in values])
            made = [Value(array) for array in (found if isinstance(found, list) else [found])]
            self.most_alive = max(self.most_alive, len(Value.alive))
            return made

        return call

    def parameters(self, node):
        return {}

    def wrap(self, name, array):
        return Value(array)

    def unwrap(self, name, value):
        return value.array


def test_every_output_is_handed_on_in_order_with_its_values():
    graph = Functions(
        [
            Node("double", "Mul", ("x",), ("a",)),
            Node("halves", "Split", ("a",), ("b", "c")),
            Node("sum", "Add", ("b", "c"), ("y",)),
        ],
        {"double": lambda x: 2 * x, "halves": lambda a: [a[:2], a[2:]], "sum": lambda b, c: b + c},
        "y",
    )
    seen = []
    result = trace(graph, np.array([1.0, 2.0, 3.0, 4.0]), seen.append)
    np.testing.assert_array_equal(result, [8.0, 12.0])
    assert [(layer.index, layer.node.name, layer.output) for layer in seen] == [
        (0, "double", "a"), (1, "halves", "b"), (1, "halves", "c"), (2, "sum", "y"),
    ]  # fmt: skip
    np.testing.assert_array_equal(seen[2].values, [6.0, 8.0])
    assert all(layer.ns > 0 for layer in seen)


@pytest.mark.parametrize("depth", [3, 60])
def test_memory_does_not_grow_with_depth(depth):
    names = ["x", *(f"v{index}" for index in range(depth))]
    nodes = [Node(f"n{i}", "Relu", (names[i],), (names[i + 1],)) for i in range(depth)]
    graph = Functions(nodes, {node.name: lambda value: value + 1 for node in nodes}, names[-1])
    assert trace(graph, np.zeros(4), lambda layer: None)[0] == depth
    assert graph.most_alive == 2


def test_a_value_is_held_until_its_last_reader():
    nodes = [
        Node("a", "Relu", ("x",), ("a",)),
        Node("b", "Relu", ("a",), ("b",)),
        Node("c", "Relu", ("b",), ("c",)),
        Node("skip", "Add", ("a", "c"), ("y",)),
    ]
    graph = Functions(
        nodes, {"a": lambda v: v + 1, "b": lambda v: v + 1, "c": lambda v: v + 1, "skip": lambda a, c: a * 10 + c}, "y"
    )
    assert trace(graph, np.zeros(1), lambda layer: None)[0] == 13
    assert graph.most_alive == 3


def test_the_result_may_be_read_by_later_nodes_too():
    nodes = [Node("a", "Relu", ("x",), ("y",)), Node("b", "Relu", ("y",), ("z",))]
    graph = Functions(nodes, {"a": lambda v: v + 1, "b": lambda v: v + 1}, "y")
    assert trace(graph, np.zeros(1), lambda layer: None)[0] == 1
