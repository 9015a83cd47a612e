"""Operators that replace a layer or an arithmetic operator by another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deltann_compiler.mutation.graph.base import GraphOperator, Values, operator
from deltann_compiler.mutation.graph.network import GLOBAL_POOLS, POOLS, Network, attribute


@operator("replace_func_add_to_subtract", "Add", "Sub")
@operator("replace_func_add_to_multiply", "Add", "Mul")
@operator("replace_func_multiply_to_add", "Mul", "Add")
@operator("replace_func_relu_to_sigmoid", "Relu", "Sigmoid")
@operator("replace_func_relu_to_tanh", "Relu", "Tanh")
@operator("replace_func_sigmoid_to_tanh", "Sigmoid", "Tanh")
class Replace(GraphOperator):
    """Another operator with the same inputs."""

    def __init__(self, before: str, after: str) -> None:
        self._before, self._after = before, after

    def places(self, network: Network) -> Iterator[Any]:
        """Nodes on floats: sums and products of shapes and indices are no arithmetic of the model."""
        return (node for node in network.all_of(self._before) if network.floats(node.input[0]))

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """Replace it."""
        network.become(node, self._after, list(node.input))


@operator("replace_func_relu_to_leaky_relu", "Relu", "LeakyRelu")
class ReplaceByLeaky(Replace):
    """ReLU with a slope on the negative side."""

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """Replace it."""
        network.become(node, self._after, list(node.input), alpha=values["alpha"])


@operator("replace_func_relu6_to_relu", "Relu")
@operator("replace_func_relu6_to_sigmoid", "Sigmoid")
class ReplaceRelu6(GraphOperator):
    """Another activation for a Clip to 0 and 6."""

    def __init__(self, after: str) -> None:
        self._after = after

    def places(self, network: Network) -> Iterator[Any]:
        """Clips between these two constants."""
        return (node for node in network.all_of("Clip") if _bounds(network, node) == (0.0, 6.0))

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """Replace it."""
        network.become(node, self._after, [node.input[0]])


def _bounds(network: Network, node: Any) -> tuple[float, float] | None:
    """Before opset 11 they are attributes."""
    if len(node.input) == 1:
        low, high = attribute(node, "min"), attribute(node, "max")
        return None if low is None or high is None else (float(low), float(high))
    known = [network.constant(name) for name in node.input[1:] if name]
    if len(known) != 2 or any(one is None for one in known):
        return None
    low, high = (float(one.reshape(-1)[0]) for one in known if one is not None)
    return low, high


_OF_WINDOWS = ("kernel_shape", "strides", "pads", "auto_pad", "ceil_mode")


@operator("replace_func_max_pool_to_average_pool", "Max", "Average")
@operator("replace_func_average_pool_to_max_pool", "Average", "Max")
class ReplacePool(GraphOperator):
    """The other pool over the same windows."""

    def __init__(self, before: str, after: str) -> None:
        self._before, self._after = before, after

    def places(self, network: Network) -> Iterator[Any]:
        """Pools whose windows both have, that give no indices."""
        for node in network.all_of(*POOLS, *GLOBAL_POOLS):
            dense = all(step == 1 for step in attribute(node, "dilations", ()))
            if self._before in node.op_type and dense and len(node.output) == 1:
                yield node

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """Replace it. An AveragePool does not count what pads."""
        kept = {name: attribute(node, name) for name in _OF_WINDOWS if attribute(node, name) is not None}
        network.become(node, node.op_type.replace(self._before, self._after), list(node.input), **kept)
