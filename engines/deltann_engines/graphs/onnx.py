"""ONNX: every node becomes a model of its own for ONNX Runtime, with nothing optimised across or within it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from deltann.layers.graph import Node
from deltann.model import ModelInfo
from deltann_engines.graphs import Graph

_QUIET = 4
_IR_VERSION = 4
"""The first in which a constant need not be an input of the graph as well."""


class OnnxGraph(Graph):
    """Nodes of an ``onnx.ModelProto``. Nodes without inputs that compute (constants) are folded into their readers.

    ``model`` is the ``onnx.ModelProto``; ``protos`` are its ``onnx.NodeProto`` by the names of the nodes.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._held = {tensor.name: tensor for tensor in model.graph.initializer}
        self._makers: dict[str, Any] = {}
        self.protos: dict[str, Any] = {}
        self._sessions: dict[Any, Any] = {}
        nodes = []
        for index, proto in enumerate(model.graph.node):
            read = [name for name in dict.fromkeys(reads(proto)) if name and name not in self._held]
            moving = tuple(name for name in read if name not in self._makers)
            if not moving:
                self._makers.update(dict.fromkeys(proto.output, proto))
                continue
            name = proto.name if proto.name and proto.name not in self.protos else f"{proto.op_type}#{index}"
            self.protos[name] = proto
            nodes.append(Node(name, proto.op_type, moving, tuple(proto.output)))
        self.nodes = tuple(nodes)
        self.feed = next(value.name for value in model.graph.input if value.name not in self._held)
        self.result = model.graph.output[0].name

    def ready(self, node: Node, values: Sequence[Any]) -> Callable[[], Sequence[Any]]:
        """Build and load the node's own model, once for each shape of its inputs."""
        key = (node.name, tuple((value.shape, str(value.dtype)) for value in values))
        if key not in self._sessions:
            self._sessions[key] = load_session(self._model_of(node, values))
        session = self._sessions[key]
        written = [name for name in node.outputs if name]
        given = dict(zip(node.inputs, values, strict=True))

        def call() -> Sequence[Any]:
            found = dict(zip(written, session.run(written, given), strict=True))
            return [found.get(name) for name in node.outputs]

        return call

    def _model_of(self, node: Node, values: Sequence[Any]) -> Any:
        return self.part([node], dict(zip(node.inputs, values, strict=True)), [name for name in node.outputs if name])

    def part(self, nodes: Sequence[Node], values: Mapping[str, Any], outputs: Sequence[str]) -> Any:
        """Some nodes as a model of their own.

        Args:
            nodes: in an order in which they can run.
            values: arrays by name, of shapes and dtypes that stay; what the nodes read of others is among them.
            outputs: names of what the model gives, which the nodes write.

        Returns:
            An ``onnx.ModelProto``, whose inputs are what the nodes read of others, in the order of ``values``.

        Raises:
            KeyError: for a value that is needed and not there.
        """
        from onnx import helper

        protos = [self.protos[node.name] for node in nodes]
        makers = self._behind([name for one in protos for name in reads(one)])
        read = {name for one in (*protos, *makers) for name in reads(one)}
        inner = {name for node in nodes for name in node.outputs}
        outer = {name for node in nodes for name in node.inputs} - inner
        if missing := sorted(outer - values.keys()):
            raise KeyError(f"the nodes read {', '.join(missing)}, which is not known")
        return self._whole(
            helper.make_graph(
                [*makers, *protos],
                "part",
                [_typed(name, value) for name, value in values.items() if name in outer],
                [
                    _typed(name, values[name]) if name in values else helper.make_empty_tensor_value_info(name)
                    for name in outputs
                ],
                [tensor for name, tensor in self._held.items() if name in read],
            )
        )

    def _whole(self, graph: Any) -> Any:
        from onnx import helper

        return helper.make_model(
            graph,
            opset_imports=self.model.opset_import,
            ir_version=max(self.model.ir_version, _IR_VERSION),
            functions=self.model.functions,
        )

    def _behind(self, names: Sequence[str]) -> list[Any]:
        """The nodes that make these constants, in the order in which they run."""
        found: dict[int, Any] = {}
        for name in names:
            maker = self._makers.get(name)
            if maker is not None:
                for one in (*self._behind(reads(maker)), maker):
                    found[id(one)] = one
        return list(found.values())

    def parameters(self, node: Node) -> Mapping[str, np.ndarray]:
        """Initializers and what constant nodes compute, in the order in which the node reads them.

        A constant that cannot be computed is left out: the node itself says what is wrong when it is run.
        """
        found = {}
        for name in self.protos[node.name].input:
            if name and name not in node.inputs:
                with suppress(Exception):
                    found[name] = self._constant(name)
        return found

    def _constant(self, name: str) -> np.ndarray:
        from onnx import helper, numpy_helper

        if name in self._held:
            return np.asarray(numpy_helper.to_array(self._held[name]))
        makers = self._behind([name])
        read = {one for maker in makers for one in reads(maker)}
        graph = helper.make_graph(
            makers, name, [], [helper.make_empty_tensor_value_info(name)],
            [tensor for held, tensor in self._held.items() if held in read],
        )  # fmt: skip
        return np.asarray(load_session(self._whole(graph)).run([name], {})[0])

    def wrap(self, name: str, array: np.ndarray) -> Any:
        """ONNX Runtime reads arrays."""
        return array

    def unwrap(self, name: str, value: Any) -> np.ndarray | None:
        """Sequences and optional values are no arrays."""
        return value if isinstance(value, np.ndarray) else None


def _typed(name: str, value: Any) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


def load_session(model: Any) -> Any:
    """ONNX Runtime with a model, nothing of it optimised, on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _QUIET
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def reads(proto: Any) -> list[str]:
    """The names a node reads: its own inputs, and what its branches and loop bodies take from outside."""
    names = list(proto.input)
    for attribute in proto.attribute:
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            inner = {value.name for value in (*graph.input, *graph.initializer)}
            for one in graph.node:
                names += [name for name in reads(one) if name not in inner]
                inner.update(one.output)
    return names


def open_graph(path: Path, info: ModelInfo) -> Graph:
    """Read an .onnx file, with its external data where it has any."""
    import onnx

    return OnnxGraph(onnx.load(path))
