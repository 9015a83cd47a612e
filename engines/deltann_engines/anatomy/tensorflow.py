"""SavedModel folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deltann.engines import DEFAULT
from deltann.model import Format, TensorSpec
from deltann_engines.anatomy import Anatomy, is_matrix
from deltann_engines.tensorflow_engine import fix_process

_INCIDENTAL = {"Const", "Placeholder", "Identity", "NoOp"}
_TYPES = {"T", "Tidx", "Tshape", "Tpaddings", "dtype"}


def _spec(name: str, tensor: Any) -> TensorSpec:
    shape = tuple(None if side is None else int(side) for side in tensor.shape)
    return TensorSpec(name=name, shape=shape, dtype=tensor.dtype.name)


def _operator(node: Any) -> str:
    settings = {key: str(value) for key, value in node.attr.items() if not key.startswith("_") and key not in _TYPES}
    return f"{node.op}{sorted(settings.items())}"


def read(path: Path, fmt: Format) -> Anatomy:
    """Read a SavedModel by its serving signature, its variables frozen into the graph."""
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    fix_process(1, DEFAULT)
    loaded = tf.saved_model.load(str(path))
    function = loaded.signatures["serving_default"]
    graph = convert_variables_to_constants_v2(function, aggressive_inlining=True).graph.as_graph_def()
    constants = {node.name: node.attr["value"].tensor for node in graph.node if node.op == "Const"}
    aliases = {node.name: node.input[0].split(":")[0] for node in graph.node if node.op == "Identity"}
    classifier = None
    for node in graph.node:
        if node.op in ("MatMul", "Conv2D", "BatchMatMulV2", "Einsum"):
            for name in node.input:
                source = name.split(":")[0]
                while source in aliases:
                    source = aliases[source]
                if source in constants and is_matrix([side.size for side in constants[source].tensor_shape.dim]):
                    classifier = constants[source]
    name, tensor = next(iter(function.structured_input_signature[1].items()))
    output = sorted(function.structured_outputs)[0]
    return Anatomy(
        input=_spec(name, tensor),
        output=_spec(output, function.structured_outputs[output]),
        operators=[_operator(node) for node in graph.node if node.op not in _INCIDENTAL],
        classifier=None if classifier is None else tf.make_ndarray(classifier),
    )
