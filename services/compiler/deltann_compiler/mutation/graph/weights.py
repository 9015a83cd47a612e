"""Operators on constant weights. A tensor that several layers read is changed for the one place alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deltann_compiler.mutation.graph.base import GraphOperator, Values, both, operator
from deltann_compiler.mutation.graph.network import Network, attribute


def _weighted(network: Network) -> Iterator[Any]:
    return (
        node for node in both(network) if network.constant(node.input[1]) is not None and network.floats(node.input[1])
    )


def _output_axis(node: Any) -> int:
    """The axis of the weights along which output channels lie."""
    if node.op_type == "Conv" or attribute(node, "transB", 0):
        return 0
    return -1


@operator("perturb_weights")
class Perturb(GraphOperator):
    """Normal noise, as large as the weights' own deviation says."""

    def places(self, network: Network) -> Iterator[Any]:
        """Layers with constant weights."""
        return _weighted(network)

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """Add the noise, drawn for each place anew."""
        old = network.constant(node.input[1])
        assert old is not None
        place = network.nodes.index(node)
        noise = np.random.default_rng([int(values["seed"]), place]).standard_normal(old.shape)
        node.input[1] = network.add_constant("perturbed", (old + values["sigma"] * old.std() * noise).astype(old.dtype))


@operator("swap_weights")
class Swap(GraphOperator):
    """Two output channels exchange their weights; their biases stay."""

    def places(self, network: Network) -> Iterator[Any]:
        """Layers with constant weights and two output channels."""
        return (
            node for node in _weighted(network) if ((network.shape(node.input[1]) or (0,))[_output_axis(node)] or 0) > 1
        )

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """Exchange them."""
        old, axis = network.constant(node.input[1]), _output_axis(node)
        assert old is not None
        place = network.nodes.index(node)
        one, two = np.random.default_rng([int(values["seed"]), place]).choice(old.shape[axis], 2, replace=False)
        order = np.arange(old.shape[axis])
        order[one], order[two] = two, one
        node.input[1] = network.add_constant("swapped", np.take(old, order, axis))


@operator("drop_bias")
class DropBias(GraphOperator):
    """Zeros in place of the bias."""

    def places(self, network: Network) -> Iterator[Any]:
        """Layers with a constant bias."""
        return (node for node in network.all_of("Conv", "Gemm") if self._bias(network, node) is not None)

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """Zero it."""
        bias = self._bias(network, node)
        assert bias is not None
        node.input[2] = network.add_constant("no_bias", np.zeros_like(bias))

    @staticmethod
    def _bias(network: Network, node: Any) -> np.ndarray | None:
        return network.constant(node.input[2]) if len(node.input) > 2 and node.input[2] else None
