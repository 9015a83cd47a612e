"""TFLite flatbuffers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deltann.model import Format, Quantisation, TensorSpec
from deltann_engines.anatomy import Anatomy, is_matrix


def _spec(detail: dict[str, Any]) -> TensorSpec:
    scale, zero_point = detail["quantization"]
    return TensorSpec(
        name=detail["name"],
        shape=tuple(None if side < 0 else int(side) for side in detail["shape_signature"]),
        dtype=np.dtype(detail["dtype"]).name,
        quantisation=Quantisation(scale=scale, zero_point=zero_point) if scale > 0 else None,
    )


def _constants(path: Path) -> set[int]:
    """Indices of the tensors that have data in the file."""
    import tflite

    model = tflite.Model.GetRootAs(path.read_bytes(), 0)
    graph = model.Subgraphs(0)
    return {
        index for index in range(graph.TensorsLength()) if model.Buffers(graph.Tensors(index).Buffer()).DataLength() > 0
    }


def read(path: Path, fmt: Format) -> Anatomy:
    """Read a .tflite file."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    # Without delegates the operators are the file's own.
    interpreter = Interpreter(
        model_path=str(path), experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    )
    interpreter.allocate_tensors()
    constants = _constants(path)
    shapes = {detail["index"]: tuple(detail["shape"]) for detail in interpreter.get_tensor_details()}
    operators, classifier = [], None
    for operation in interpreter._get_ops_details():
        inputs = [int(index) for index in operation["inputs"] if index >= 0]
        operators.append(f"{operation['op_name']}{[shapes.get(index) for index in inputs]}")
        for index in inputs:
            if index in constants and is_matrix(shapes[index]):
                classifier = index
    return Anatomy(
        input=_spec(interpreter.get_input_details()[0]),
        output=_spec(interpreter.get_output_details()[0]),
        operators=operators,
        classifier=None if classifier is None else interpreter.get_tensor(classifier),
    )
