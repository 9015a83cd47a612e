"""Operators that leave layers out or repeat them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deltann_compiler.mutation.graph.base import GraphOperator, Values, both, operator
from deltann_compiler.mutation.graph.network import GLOBAL_POOLS, NORM, POOLS, Network

_ACTIVATIONS = (
    "Relu", "Clip", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "Selu", "HardSigmoid", "HardSwish", "Softplus", "PRelu",
    "Gelu", "Mish", "Softmax", "LRN",
)  # fmt: skip


def same_shape(network: Network) -> Iterator[Any]:
    """Layers that give what they take, in its shape."""
    layers = {id(node) for node in (*both(network), *network.all_of(*NORM, *POOLS, *GLOBAL_POOLS, *_ACTIVATIONS))}
    for node in network.nodes:
        if id(node) in layers and len(node.output) == 1:
            taken, given = network.shape(node.input[0]), network.shape(node.output[0])
            if taken is not None and given is not None and taken[1:] == given[1:] and len(taken) == len(given):
                yield node


@operator("drop_layer")
class Drop(GraphOperator):
    """Hand the input on."""

    def places(self, network: Network) -> Iterator[Any]:
        """Layers that keep the shape."""
        return same_shape(network)

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """An Identity keeps the names of inputs and outputs whatever reads them; compilers leave it out."""
        network.become(node, "Identity", [node.input[0]])


@operator("duplicate_layer")
class Duplicate(GraphOperator):
    """Apply it twice."""

    def places(self, network: Network) -> Iterator[Any]:
        """Layers that keep the shape; twice the same of a ReLU is still that ReLU, which the label says."""
        return same_shape(network)

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """A second node with the same weights."""
        network.insert_copy_after(node)
