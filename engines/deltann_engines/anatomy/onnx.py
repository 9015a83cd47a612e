"""ONNX graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deltann.model import Format, TensorSpec
from deltann_engines.anatomy import Anatomy, is_matrix


def _spec(value: Any) -> TensorSpec:
    from onnx import helper

    kind = value.type.tensor_type
    shape = tuple(side.dim_value if side.HasField("dim_value") else None for side in kind.shape.dim)
    return TensorSpec(name=value.name, shape=shape, dtype=helper.tensor_dtype_to_np_dtype(kind.elem_type).name)


def read(path: Path, fmt: Format) -> Anatomy:
    """Read an .onnx file; it is checked for being a valid model first."""
    import onnx
    from onnx import numpy_helper

    onnx.checker.check_model(str(path))
    model = onnx.load(path)
    initialisers = {tensor.name: tensor for tensor in model.graph.initializer}
    constants = {
        node.output[0]: item.t
        for node in model.graph.node
        if node.op_type == "Constant"
        for item in node.attribute
        if item.name == "value"
    }
    held = {**initialisers, **constants}
    operators, classifier = [], None
    for node in model.graph.node:
        attributes = {item.name: str(onnx.helper.get_attribute_value(item))[:200] for item in node.attribute}
        operators.append(f"{node.op_type}{sorted(attributes.items())}")
        for name in node.input:
            if name in held and is_matrix(held[name].dims):
                classifier = held[name]
    inputs = [value for value in model.graph.input if value.name not in initialisers]
    return Anatomy(
        input=_spec(inputs[0]),
        output=_spec(model.graph.output[0]),
        operators=operators,
        classifier=None if classifier is None else numpy_helper.to_array(classifier),
        opset=next((item.version for item in model.opset_import if item.domain in ("", "ai.onnx")), None),
    )
