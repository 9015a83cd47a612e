"""TFLite: every operator becomes a model of its own for LiteRT, with its default kernels (XNNPACK)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deltann.errors import ModelError
from deltann.layers.graph import Node
from deltann.model import ModelInfo
from deltann_engines.graphs import Graph

_IDENTIFIER = b"TFL3"
_ABSENT = -1
_START_BYTES = 1 << 20
_DTYPES = {
    0: np.float32, 1: np.float16, 2: np.int32, 3: np.uint8, 4: np.int64, 6: np.bool_, 7: np.int16, 9: np.int8,
    10: np.float64,
}  # fmt: skip
"""NumPy's types by TFLite's numbers (schema.fbs, TensorType)."""


class TfliteGraph(Graph):
    """Operators of a model's one graph. Where two tensors share a name, their indices tell them apart."""

    def __init__(self, model: Any, operators: dict[int, str]) -> None:
        if len(model.subgraphs) > 1:
            raise ModelError(
                f"The TFLite model has {len(model.subgraphs)} graphs: operators with branches or loops call the "
                "others, and cannot be run apart. Debug the model that it was converted from."
            )
        self._model = model
        self._graph = model.subgraphs[0]
        names = [(tensor.name or b"").decode() for tensor in self._graph.tensors]
        self._names = [name if names.count(name) == 1 else f"{name}#{index}" for index, name in enumerate(names)]
        self._tensor = dict(zip(self._names, self._graph.tensors, strict=True))
        self._operators: dict[str, Any] = {}
        nodes = []
        for operator in self._graph.operators:
            written = tuple(self._names[index] for index in operator.outputs)
            code = model.operatorCodes[operator.opcodeIndex]
            kind = operators[max(code.builtinCode, code.deprecatedBuiltinCode)]
            read = dict.fromkeys(self._names[i] for i in operator.inputs if i != _ABSENT and not self._held(i))
            self._operators[written[0]] = operator
            nodes.append(Node(written[0], kind, tuple(read), written))
        self.nodes = tuple(nodes)
        self.feed, self.result = self._names[self._graph.inputs[0]], self._names[self._graph.outputs[0]]

    def _held(self, index: int) -> bool:
        """Whether a tensor is a constant of the model."""
        data = self._model.buffers[self._graph.tensors[index].buffer].data
        return data is not None and len(data) > 0

    def ready(self, node: Node, values: Sequence[Any]) -> Callable[[], Sequence[Any]]:
        """Build, load and feed the operator's own model."""
        from ai_edge_litert.interpreter import Interpreter

        interpreter = Interpreter(model_content=self._alone(node), num_threads=1)
        for detail, value in zip(interpreter.get_input_details(), values, strict=True):
            if list(detail["shape"]) != list(value.shape):
                interpreter.resize_tensor_input(detail["index"], value.shape)
        interpreter.allocate_tensors()
        for detail, value in zip(interpreter.get_input_details(), values, strict=True):
            interpreter.set_tensor(detail["index"], value)
        outputs = [detail["index"] for detail in interpreter.get_output_details()]

        def call() -> Sequence[Any]:
            interpreter.invoke()
            return [interpreter.get_tensor(index) for index in outputs]

        return call

    def _alone(self, node: Node) -> bytes:
        """The flatbuffer of a model that has this operator alone, with the constants that it reads."""
        import flatbuffers

        operator = copy.copy(self._operators[node.name])
        used = list(dict.fromkeys(int(i) for i in (*operator.inputs, *operator.outputs) if i != _ABSENT))
        place = {index: new for new, index in enumerate(used)}
        operator.inputs = [place.get(int(index), _ABSENT) for index in operator.inputs]
        operator.outputs = [place[int(index)] for index in operator.outputs]
        tensors, buffers = [], [copy.copy(self._model.buffers[0])]
        for index in used:
            tensor = copy.copy(self._graph.tensors[index])
            buffers.append(self._model.buffers[tensor.buffer])
            tensor.buffer = len(buffers) - 1
            tensors.append(tensor)
        index_of = {name: index for index, name in enumerate(self._names)}
        graph = copy.copy(self._graph)
        graph.tensors, graph.operators = tensors, [operator]
        graph.inputs = [place[index_of[name]] for name in node.inputs]
        graph.outputs = list(operator.outputs)
        model = copy.copy(self._model)
        model.subgraphs, model.buffers = [graph], buffers
        model.signatureDefs, model.metadata, model.metadataBuffer = None, None, None
        builder = flatbuffers.Builder(_START_BYTES)
        builder.Finish(model.Pack(builder), file_identifier=_IDENTIFIER)
        return bytes(builder.Output())

    def _scale(self, name: str) -> tuple[float, int] | None:
        """Scale and zero point of a tensor that is quantised as a whole."""
        found = self._tensor[name].quantization
        if found is None or found.scale is None or len(found.scale) != 1:
            return None
        return float(found.scale[0]), int(found.zeroPoint[0])

    def parameters(self, node: Node) -> Mapping[str, np.ndarray]:
        """Constants that the operator reads; of a quantised one the real values."""
        indices = [int(index) for index in self._operators[node.name].inputs if index != _ABSENT]
        return {self._names[index]: self._constant(index) for index in indices if self._held(index)}

    def _constant(self, index: int) -> np.ndarray:
        tensor = self._graph.tensors[index]
        data = bytes(self._model.buffers[tensor.buffer].data)
        stored = np.frombuffer(data, _DTYPES[tensor.type]).reshape(tensor.shape)
        found = tensor.quantization
        if found is None or found.scale is None or not len(found.scale):
            return stored
        sides = [1] * stored.ndim
        if len(found.scale) > 1:
            sides[found.quantizedDimension] = len(found.scale)
        scale, zero = (np.reshape(part, sides or ()) for part in (found.scale, found.zeroPoint))
        return ((stored.astype(np.float32) - zero) * scale).astype(np.float32)

    def wrap(self, name: str, array: np.ndarray) -> Any:
        """Real numbers are quantised where the tensor is."""
        scale = self._scale(name)
        if scale is None or not np.issubdtype(array.dtype, np.floating):
            return array
        stored = {3: np.uint8, 7: np.int16, 9: np.int8}.get(self._tensor[name].type)
        if stored is None:
            return array
        limits = np.iinfo(stored)
        return np.clip(np.round(array / scale[0]) + scale[1], limits.min, limits.max).astype(stored)

    def unwrap(self, name: str, value: Any) -> np.ndarray | None:
        """Dequantised where the tensor is quantised."""
        scale = self._scale(name)
        if scale is None or not np.issubdtype(value.dtype, np.integer):
            return np.asarray(value)
        return ((value.astype(np.float32) - scale[1]) * np.float32(scale[0])).astype(np.float32)


def open_graph(path: Path, info: ModelInfo) -> Graph:
    """Read a .tflite file."""
    from ai_edge_litert import schema_py_generated as schema

    model = schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0)
    operators = {code: name for name, code in vars(schema.BuiltinOperator).items() if not name.startswith("_")}
    return TfliteGraph(model, operators)
