"""What a graph operator is, and where they are registered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from deltann_compiler.mutation.graph.network import DENSE, Network
from deltann_compiler.mutation.registry import Registry

Values = Mapping[str, float]


class GraphOperator(ABC):
    """A mutation operator on ONNX graphs. What is a place is decided on the graph as it came, before any edit."""

    @abstractmethod
    def places(self, network: Network) -> Iterator[Any]:
        """The nodes that it fits, in the order of the graph."""

    @abstractmethod
    def apply(self, network: Network, node: Any, values: Values) -> None:
        """Mutate one of them.

        Args:
            network: that has the node.
            node: one of ``places``.
            values: every parameter that the table states, by name.
        """


REGISTERED: Registry[GraphOperator] = Registry()
operator = REGISTERED.operator


def convolutions(network: Network) -> Iterator[Any]:
    """Convolutions of two dimensions."""
    return (node for node in network.all_of("Conv") if len(network.shape(node.input[1]) or ()) == 4)


def dense(network: Network) -> Iterator[Any]:
    """Products with constant weights."""
    return (node for node in network.all_of(*DENSE) if node.op_type == "Gemm" or _is_constant(network, node.input[1]))


def both(network: Network) -> Iterator[Any]:
    """Convolutions and dense layers, in the order of the graph."""
    wanted = {id(node) for node in (*convolutions(network), *dense(network))}
    return (node for node in network.nodes if id(node) in wanted)


def norms(network: Network) -> Iterator[Any]:
    """Batch normalisations."""
    return network.all_of("BatchNormalization")


def _is_constant(network: Network, name: str) -> bool:
    return network.constant(name) is not None
