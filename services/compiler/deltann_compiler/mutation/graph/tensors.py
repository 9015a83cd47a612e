"""Operators that put a function before or after a layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from deltann_compiler.mutation.graph.base import GraphOperator, Values, both, convolutions, dense, norms, operator
from deltann_compiler.mutation.graph.network import Network
from deltann_compiler.mutation.graph.shapes import Shape

Layers = Callable[[Network], Iterator[Any]]


@operator("transpose_conv2d_0_before", convolutions, 0)
@operator("transpose_dense_0_before", dense, 0)
@operator("transpose_conv2d_dense_0_before", both, 0)
@operator("transpose_conv2d_dense_1_before", both, 1)
@operator("transpose_batch_norm_0_before", norms, 0)
class TransposeInput(GraphOperator):
    """Exchange the first two axes of an input that have equal sides; sides of 1 would change nothing."""

    def __init__(self, layers: Layers, slot: int) -> None:
        self._layers, self._slot = layers, slot

    def places(self, network: Network) -> Iterator[Any]:
        """Layers whose input has two equal sides."""
        return (node for node in self._layers(network) if self._axes(network, node) is not None)

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """Put a Transpose in between."""
        axes, shape = self._axes(network, node), network.shape(node.input[self._slot])
        assert axes is not None
        assert shape is not None
        order = list(range(len(shape)))
        order[axes[0]], order[axes[1]] = axes[1], axes[0]
        network.insert_before(node, self._slot, "Transpose", perm=order)

    def _axes(self, network: Network, node: Any) -> tuple[int, int] | None:
        shape: Shape = network.shape(node.input[self._slot]) or ()
        equal = ((a, b) for a, b in combinations(range(len(shape)), 2) if shape[a] == shape[b] and (shape[a] or 0) > 1)
        return next(equal, None)


@operator("exp_conv2d_dense_0_before", both, "Exp")
@operator("exp_batch_norm_0_before", norms, "Exp")
@operator("round_batch_norm_0_before", norms, "Round")
@operator("round_conv2d_dense_0_before", both, "Round")
class FunctionBefore(GraphOperator):
    """Apply a function to input 0."""

    def __init__(self, layers: Layers, function: str) -> None:
        self._layers, self._function = layers, function

    def places(self, network: Network) -> Iterator[Any]:
        """All such layers on floats."""
        return (node for node in self._layers(network) if network.floats(node.input[0]))

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """Put the function in between."""
        network.insert_before(node, 0, self._function)


@operator("exp_conv2d_dense_0_after", both, "Exp")
class FunctionAfter(FunctionBefore):
    """Apply a function to the output."""

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """Put the function behind it."""
        network.insert_after(node, self._function)


@operator("scale_conv2d_dense_0_before", both, "Mul")
@operator("scale_batch_norm_0_before", norms, "Mul")
class ScaleBefore(FunctionBefore):
    """Multiply input 0."""

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """Put the product in between."""
        network.insert_before(node, 0, self._function, network.like(node.input[0], values["factor"]))


@operator("scale_conv2d_dense_0_after", both, "Mul")
class ScaleAfter(FunctionBefore):
    """Multiply the output."""

    def apply(self, network: Network, node: Any, values: Values) -> None:
        """Put the product behind it."""
        network.insert_after(node, self._function, network.like(node.input[0], values["factor"]))
