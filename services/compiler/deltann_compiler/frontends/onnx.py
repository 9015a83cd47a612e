"""ONNX graphs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from deltann.model import ModelInfo


def load(path: Path, info: ModelInfo) -> Any:
    """Import an .onnx file, its shape arithmetic computed before: TVM takes no pads that it would have to compute."""
    from tvm.relax.frontend.onnx import from_onnx

    model = fold_shapes(path, info)
    return from_onnx(model, keep_params_in_input=False)


def fold_shapes(path: Path, info: ModelInfo) -> Any:
    """The ``onnx.ModelProto`` with a batch of 1 and its shape arithmetic folded, by ONNX Runtime at its basic level."""
    import onnx
    import onnxruntime

    model = onnx.load(path)
    held = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name not in held:
            sides = value.type.tensor_type.shape.dim
            for side, known in zip(sides, info.input.shape, strict=True):
                side.dim_value = 1 if known is None else known
    with tempfile.TemporaryDirectory() as folder:
        plain, folded = Path(folder, "plain.onnx"), Path(folder, "folded.onnx")
        onnx.save(model, plain)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(folded)
        options.log_severity_level = 3
        onnxruntime.InferenceSession(str(plain), options, providers=["CPUExecutionProvider"])
        return onnx.load(folded)
