"""What a graph operator is, and where they are registered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from deltann.mutation import OPERATORS
from deltann_compiler.mutation.graph.network import DENSE, Network

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


REGISTERED: dict[str, GraphOperator] = {}
"""By the names of :data:`deltann.mutation.OPERATORS`."""

_Made = TypeVar("_Made", bound=type[GraphOperator])


def operator(name: str, *args: Any) -> Callable[[_Made], _Made]:
    """Register a class, made with ``args``, as what the operator of that name does; one class may be several."""
    if name not in OPERATORS:
        raise LookupError(f"deltann.mutation says nothing of {name}: add it to its table")

    def register(made: _Made) -> _Made:
        REGISTERED[name] = made(*args)
        return made

    return register


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
