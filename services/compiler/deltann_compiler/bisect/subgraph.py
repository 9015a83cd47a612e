"""Parts of a model on one input: any nodes, fed with ONNX Runtime's values of what they read of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from deltann_engines.graphs.onnx import OnnxGraph
from deltann_engines.trace import trace

from deltann.kinds.bisect import NamedNode
from deltann.layers.graph import Node


class CannotCutError(ValueError):
    """Some nodes are no model: what lies between them and the others is no tensor, or nothing."""


class Parts:
    """A model whose values on one input are known.

    Args:
        model: ``onnx.ModelProto`` of known shapes.
        x: its input, a batch of 1.

    Raises:
        Exception: whatever ONNX Runtime raises.
    """

    def __init__(self, model: Any, x: np.ndarray) -> None:
        self._graph = OnnxGraph(model)
        self._values: dict[str, np.ndarray] = {self._graph.feed: x}
        self._wanted = {one.name for one in model.graph.output}
        trace(self._graph, x, lambda layer: self._values.__setitem__(layer.output, layer.values))
        self.nodes = self._graph.nodes

    def model(self, nodes: Sequence[Node]) -> tuple[Any, list[np.ndarray], list[np.ndarray]]:
        """Some of the nodes, in order, as a model: itself, its inputs, and its outputs as ONNX Runtime computes them.

        Its outputs are the values that the model gives or that nodes which are not among these read.

        Raises:
            CannotCutError: where one of its inputs or outputs is no tensor, or it has no output.
        """
        names = {node.name for node in nodes}
        read = {name for node in self.nodes if node.name not in names for name in node.inputs} | self._wanted
        outputs = [name for node in nodes for name in node.outputs if name in read]
        if not outputs:
            raise CannotCutError("nothing reads what the nodes write")
        if missing := [name for name in outputs if name not in self._values]:
            raise CannotCutError(f"{missing[0]} is no tensor")
        try:
            made = self._graph.part(nodes, self._values, outputs)
        except KeyError as error:
            raise CannotCutError(str(error)) from error
        inputs = [self._values[one.name] for one in made.graph.input]
        return made, inputs, [self._values[name] for name in outputs]

    def named(self, node: Node) -> NamedNode:
        """A node as a finding tells it."""
        return NamedNode(name=node.name, op_type=node.kind, output=next(name for name in node.outputs if name))
