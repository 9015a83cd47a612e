"""ONNX graphs."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from deltann.errors import JobFailure
from deltann.model import ModelInfo
from deltann.outcome import Outcome

_LACKING = re.compile(r"not supported for frontend ONNX: (.+)")
_SHOWN = 5
_NOT_SHAPES = ["ConvBNFusion", "ConvMulFusion", "ConvAddFusion"]
"""What ONNX Runtime's basic level does beside folding shapes."""


def load(path: Path, info: ModelInfo) -> Any:
    """Import an .onnx file, its shape arithmetic computed before: TVM takes no pads that it would have to compute."""
    from tvm.relax.frontend.onnx import from_onnx

    model = fold_shapes(path, info)
    try:
        return from_onnx(model, keep_params_in_input=False)
    except Exception as error:
        if (lacking := _LACKING.search(str(error))) is None:
            raise
        raise JobFailure(Outcome.COMPILE_FAILED, "import", _name_nodes(model, lacking[1])) from error


def _name_nodes(model: Any, told: str) -> str:
    """Which nodes have the operators that TVM told it lacks."""
    operators = set(re.findall(r"\w+", told))
    nodes = [
        f"{node.op_type} {node.name or node.output[0]!r}" for node in model.graph.node if node.op_type in operators
    ]
    shown = ", ".join(nodes[:_SHOWN]) + (f" and {len(nodes) - _SHOWN} more" if len(nodes) > _SHOWN else "")
    return (
        f"TVM's ONNX frontend does not support {', '.join(sorted(operators))}: the graph has {shown or 'it'}. "
        "Replace these nodes by supported ones, or run this model in its own engine."
    )


def fold_shapes(path: Path, info: ModelInfo) -> Any:
    """The ``onnx.ModelProto`` with a batch of 1 and its shape arithmetic folded, by ONNX Runtime at its basic level."""
    import onnx
    import onnxruntime

    model = batch_of_one(path, info)
    with tempfile.TemporaryDirectory() as folder:
        plain, folded = Path(folder, "plain.onnx"), Path(folder, "folded.onnx")
        onnx.save(model, plain)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(folded)
        options.log_severity_level = 3
        # Batch norms stay: folding them is a pass of level 3, and the import check is of the graph as it is.
        onnxruntime.InferenceSession(
            str(plain), options, providers=["CPUExecutionProvider"], disabled_optimizers=_NOT_SHAPES
        )
        return onnx.load(folded)


def batch_of_one(path: Path, info: ModelInfo) -> Any:
    """The ``onnx.ModelProto`` of a file, its free dimensions made 1."""
    import onnx

    model = onnx.load(path)
    held = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name not in held:
            sides = value.type.tensor_type.shape.dim
            for side, known in zip(sides, info.input.shape, strict=True):
                side.dim_value = 1 if known is None else known
    return model
