"""SavedModels: the operations behind ``serving_default``, with their variables frozen, executed one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from deltann.engines import DEFAULT
from deltann.layers.graph import Node
from deltann.model import ModelInfo
from deltann_engines.graphs import Graph
from deltann_engines.tensorflow_engine import prepare

_PASSING = ("Placeholder", "NoOp")


class TensorflowGraph(Graph):
    """Operations of a frozen graph function, executed eagerly by TensorFlow's own kernels."""

    def __init__(self, function: Any) -> None:
        self._operations: dict[str, Any] = {}
        self._constants: dict[str, Any] = {}
        nodes = []
        for one in function.graph.get_operations():
            if one.type in _PASSING:
                continue
            outputs = tuple(tensor.name for tensor in one.outputs)
            read = tuple(name for name in dict.fromkeys(t.name for t in one.inputs) if name not in self._constants)
            if not read:
                self._constants.update(zip(outputs, self._call(one, {}), strict=True))
                continue
            self._operations[one.name] = one
            nodes.append(Node(one.name, one.type, read, outputs))
        self.nodes = tuple(nodes)
        self.feed, self.result = function.inputs[0].name, function.outputs[0].name

    def ready(self, node: Node, values: Sequence[Any]) -> Callable[[], Sequence[Any]]:
        """The operation with its operands."""
        return partial(self._call, self._operations[node.name], dict(zip(node.inputs, values, strict=True)))

    def _call(self, one: Any, values: dict[str, Any]) -> Sequence[Any]:
        import tensorflow as tf
        from tensorflow.python.eager import context, execute

        if one.type == "Const":  # the executor takes no tensors as attributes
            return [tf.constant(tf.make_ndarray(one.get_attr("value")))]
        inputs = [self._constants[t.name] if t.name in self._constants else values[t.name] for t in one.inputs]
        attributes = [item for name in one.node_def.attr if name[0] != "_" for item in (name, _attribute(one, name))]
        found = execute.execute(str.encode(one.type), len(one.outputs), inputs, tuple(attributes), context.context())
        return list(found)

    def parameters(self, node: Node) -> Mapping[str, np.ndarray]:
        """Constants among the operation's operands."""
        names = [tensor.name for tensor in self._operations[node.name].inputs]
        found = {name: self.unwrap(name, self._constants.get(name)) for name in names}
        return {name: array for name, array in found.items() if array is not None}

    def wrap(self, name: str, array: np.ndarray) -> Any:
        """An eager tensor."""
        import tensorflow as tf

        return tf.constant(array)

    def unwrap(self, name: str, value: Any) -> np.ndarray | None:
        """The array of a tensor; handles have none."""
        array: np.ndarray | None = value.numpy() if hasattr(value, "numpy") else None
        return array


def _attribute(one: Any, name: str) -> Any:
    """As the eager executor takes it: types as numbers, shapes and texts as they are."""
    value = one.get_attr(name)
    return value.as_datatype_enum if hasattr(value, "as_datatype_enum") else value


def open_graph(path: Path, info: ModelInfo) -> Graph:
    """Read a SavedModel folder."""
    prepare(1, DEFAULT)
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    loaded = tf.saved_model.load(str(path))
    return TensorflowGraph(convert_variables_to_constants_v2(loaded.signatures["serving_default"]))
