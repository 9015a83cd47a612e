"""Operators on the attributes of layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deltann_compiler.mutation.graph.base import GraphOperator, Values, convolutions, norms, operator
from deltann_compiler.mutation.graph.network import POOLS, Network, attribute, set_attribute


def _windows(network: Network) -> Iterator[Any]:
    """Convolutions and pools of two dimensions, in the order of the graph."""
    wanted = {id(node) for node in convolutions(network)}
    wanted |= {id(node) for node in network.all_of(*POOLS) if len(attribute(node, "kernel_shape", ())) == 2}
    return (node for node in network.nodes if id(node) in wanted)


@operator("shift_pads")
class ShiftPads(GraphOperator):
    """What pads the beginning of an axis pads its end: every shape stays."""

    def places(self, network: Network) -> Iterator[Any]:
        """Windows that pad the beginning by a stated number."""
        return (node for node in _windows(network) if any(attribute(node, "pads", ())[:2]))

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """Move the pads."""
        begins, ends = attribute(node, "pads")[:2], attribute(node, "pads")[2:]
        moved = [min(int(values["by"]), begin) for begin in begins]
        set_attribute(
            node,
            "pads",
            [
                *(one - by for one, by in zip(begins, moved, strict=True)),
                *(one + by for one, by in zip(ends, moved, strict=True)),
            ],
        )


@operator("change_strides")
class ChangeStrides(GraphOperator):
    """Longer strides give a smaller output: where the rest of the graph cannot take it, the mutant is refused."""

    def places(self, network: Network) -> Iterator[Any]:
        """All windows."""
        return _windows(network)

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """Lengthen them."""
        set_attribute(node, "strides", [int(values["by"]) + stride for stride in attribute(node, "strides", [1, 1])])


@operator("change_epsilon")
class ChangeEpsilon(GraphOperator):
    """Another epsilon."""

    def places(self, network: Network) -> Iterator[Any]:
        """Batch norms."""
        return norms(network)

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """Set it."""
        set_attribute(node, "epsilon", float(values["epsilon"]))
