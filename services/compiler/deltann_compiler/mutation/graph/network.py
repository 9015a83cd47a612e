"""An ONNX graph as the operators see it: nodes in order, shapes, constants, and the few edits that they need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deltann_compiler.mutation.graph.shapes import Shape, run_shapes

DENSE = ("Gemm", "MatMul")
NORM = ("BatchNormalization",)
POOLS = ("MaxPool", "AveragePool")
GLOBAL_POOLS = ("GlobalMaxPool", "GlobalAveragePool")
_IR_VERSION = 4
"""The first in which a constant need not be an input of the graph as well."""


class Network:
    """The graph of an ``onnx.ModelProto``, which it edits in place; ``finish`` writes the nodes back.

    Shapes and types are those of the graph as it came.
    """

    def __init__(self, model: Any) -> None:
        import onnx

        self.model = model
        self._original = type(model).FromString(model.SerializeToString())
        self._seen: dict[str, Shape] | None = None
        self.nodes: list[Any] = list(model.graph.node)
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
        self._types = {
            one.name: one.type.tensor_type for one in (*inferred.value_info, *inferred.input, *inferred.output)
        }
        self._held = {tensor.name: tensor for tensor in model.graph.initializer}
        self._constants = {
            node.output[0]: attribute.t
            for node in self.nodes
            if node.op_type == "Constant"
            for attribute in node.attribute
            if attribute.name == "value"
        }
        self._names = {name for node in self.nodes for name in (*node.input, *node.output)} | set(self._held)

    def all_of(self, *operators: str) -> Iterator[Any]:
        """The nodes with these operators, in the order of the graph."""
        return (node for node in self.nodes if node.op_type in operators and node.domain in ("", "ai.onnx"))

    def shape(self, name: str) -> Shape | None:
        """The sides of a tensor, None for one that is free; None where even the rank is not known.

        Where inference leaves more than the first side open, they are those of a batch of 1.
        """
        if (held := self._tensor(name)) is not None:
            return tuple(held.dims)
        if name in self._types and self._types[name].HasField("shape"):
            sides = self._types[name].shape.dim
            told = tuple(side.dim_value if side.HasField("dim_value") else None for side in sides)
            if None not in told[1:]:
                return told
        if self._seen is None:
            self._seen = run_shapes(self._original)
        return self._seen.get(name)

    def element(self, name: str) -> int:
        """ONNX's number of a tensor's element type; 0 where it is not known."""
        held = self._tensor(name)
        if held is not None:
            return int(held.data_type)
        return int(self._types[name].elem_type) if name in self._types else 0

    def floats(self, name: str) -> bool:
        """Whether a tensor is of float32, float16 or float64."""
        from onnx import TensorProto

        return self.element(name) in (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)

    def constant(self, name: str) -> np.ndarray | None:
        """The values of a constant; None for what is computed."""
        from onnx import numpy_helper

        held = self._tensor(name)
        return None if held is None else np.array(numpy_helper.to_array(held))

    def fresh(self, stem: str) -> str:
        """A tensor name that nothing has."""
        name = next(f"{stem}_{n}" for n in range(len(self._names) + 1) if f"{stem}_{n}" not in self._names)
        self._names.add(name)
        return name

    def add_constant(self, stem: str, values: np.ndarray) -> str:
        """A new initializer of the graph; its name."""
        from onnx import numpy_helper

        name = self.fresh(stem)
        tensor = numpy_helper.from_array(values, name)
        self.model.graph.initializer.append(tensor)
        self._held[name] = tensor
        return name

    def like(self, tensor: str, value: float) -> str:
        """A new scalar constant of the type of a tensor; its name."""
        import onnx

        kind = onnx.helper.tensor_dtype_to_np_dtype(self.element(tensor))
        return self.add_constant("mutation_value", np.array(value, kind))

    def insert_before(self, node: Any, slot: int, operator: str, *more: str, **attributes: Any) -> None:
        """Put an operator between an input of a node and the node; ``more`` are its other inputs."""
        import onnx

        made = self.fresh(f"{node.input[slot]}_mutated")
        new = onnx.helper.make_node(operator, [node.input[slot], *more], [made], name=made, **attributes)
        self.nodes.insert(self._place(node), new)
        node.input[slot] = made

    def insert_after(self, node: Any, operator: str, *more: str, **attributes: Any) -> None:
        """Put an operator between a node's first output and whatever reads it."""
        import onnx

        result, raw = node.output[0], self.fresh(f"{node.output[0]}_unmutated")
        new = onnx.helper.make_node(operator, [raw, *more], [result], name=f"{raw}_mutated", **attributes)
        self.nodes.insert(self._place(node) + 1, new)
        node.output[0] = raw

    def insert_copy_after(self, node: Any) -> None:
        """Apply a node once more to its own output."""
        result, once = node.output[0], self.fresh(f"{node.output[0]}_once")
        copy = type(node)()
        copy.CopyFrom(node)
        node.output[0] = copy.input[0] = once
        copy.output[0] = result
        copy.name = f"{once}_again"
        self.nodes.insert(self._place(node) + 1, copy)

    def become(self, node: Any, operator: str, inputs: list[str], **attributes: Any) -> None:
        """Give a node another operator, inputs and attributes; its output stays."""
        import onnx

        node.CopyFrom(onnx.helper.make_node(operator, inputs, [node.output[0]], name=node.name, **attributes))

    def finish(self) -> Any:
        """The model with its nodes as they are now, and without what was known of intermediate shapes."""
        graph = self.model.graph
        nodes = [type(node).FromString(node.SerializeToString()) for node in self.nodes]
        del graph.node[:], graph.value_info[:]
        graph.node.extend(nodes)
        self.model.ir_version = max(self.model.ir_version, _IR_VERSION)
        return self.model

    def _tensor(self, name: str) -> Any:
        return self._held.get(name, self._constants.get(name))

    def _place(self, node: Any) -> int:
        return next(place for place, one in enumerate(self.nodes) if one is node)


def attribute(node: Any, name: str, default: Any = None) -> Any:
    """The value of an attribute of a node."""
    import onnx

    found = next((one for one in node.attribute if one.name == name), None)
    return default if found is None else onnx.helper.get_attribute_value(found)


def set_attribute(node: Any, name: str, value: Any) -> None:
    """Give a node an attribute, in place of one of that name."""
    import onnx

    kept = [one for one in node.attribute if one.name != name]
    del node.attribute[:]
    node.attribute.extend([*kept, onnx.helper.make_attribute(name, value)])
