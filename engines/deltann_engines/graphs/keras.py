"""Keras functional models: layer by layer, run eagerly. Models within models count as one layer each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deltann.engines import DEFAULT
from deltann.errors import ModelError
from deltann.layers.graph import Node
from deltann.model import ModelInfo
from deltann_engines.graphs import Graph
from deltann_engines.keras_engine import load_model, prepare


class KerasGraph(Graph):
    """Layers of a ``keras.Model``; a layer that is used twice is two nodes."""

    def __init__(self, model: Any) -> None:
        if not hasattr(model, "_nodes_by_depth"):
            raise ModelError(
                "Only functional and sequential Keras models have a graph of layers: this one is a class of its own. "
                "Debug its SavedModel or its ONNX instead: deltann convert makes them."
            )
        model = getattr(model, "_functional", None) or model
        self._calls: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        """Of tensors, by identity: Keras gives its symbolic tensors numbers, so each is called after its layer."""
        nodes = []
        for tensor in model.inputs:
            self._names[id(tensor)] = str(tensor.name)
        self.feed = self._name(model.inputs[0])
        for depth in sorted(model._nodes_by_depth, reverse=True):
            for call in model._nodes_by_depth[depth]:
                if call.is_input or call.operation is None:
                    continue
                name = call.operation.name
                name = name if name not in self._calls else f"{name}#{len(nodes)}"
                self._calls[name] = call
                outputs = tuple(f"{name}:{place}" if place else name for place in range(len(call.outputs)))
                self._names.update(zip(map(id, call.outputs), outputs, strict=True))
                read = dict.fromkeys(self._name(tensor) for tensor in call.input_tensors)
                nodes.append(Node(name, type(call.operation).__name__, tuple(read), outputs))
        self.nodes = tuple(nodes)
        self.result = self._name(model.outputs[0])

    def ready(self, node: Node, values: Sequence[Any]) -> Callable[[], Sequence[Any]]:
        """The layer with its arguments, as inference calls it."""
        import keras

        call = self._calls[node.name]
        held = dict(zip(node.inputs, values, strict=True))
        args, kwargs = keras.tree.map_structure(
            lambda one: held[self._name(one)] if isinstance(one, keras.KerasTensor) else one,
            (call.arguments.args, call.arguments.kwargs),
        )
        if "training" in inspect.signature(call.operation.call).parameters:
            kwargs = {**kwargs, "training": False}
        return lambda: keras.tree.flatten(call.operation(*args, **kwargs))

    def parameters(self, node: Node) -> Mapping[str, np.ndarray]:
        """The layer's weights by their paths, those that are not trained among them."""
        weights = getattr(self._calls[node.name].operation, "weights", ())
        return {weight.path: np.asarray(weight.value) for weight in weights}

    def wrap(self, name: str, array: np.ndarray) -> Any:
        """A tensor of the backend, which is TensorFlow."""
        import keras

        return keras.ops.convert_to_tensor(array)

    def unwrap(self, name: str, value: Any) -> np.ndarray | None:
        """The array of a tensor."""
        return np.asarray(value)

    def _name(self, tensor: Any) -> str:
        return self._names[id(tensor)]


def open_graph(path: Path, info: ModelInfo) -> Graph:
    """Read a .keras file, or rebuild a converted model."""
    prepare(1, DEFAULT)
    return KerasGraph(load_model(path, info))
