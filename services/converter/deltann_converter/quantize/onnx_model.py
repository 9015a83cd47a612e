"""ONNX as ONNX Runtime's quantiser wants it: shapes inferred, batch norms folded, constants computed."""

from __future__ import annotations

from pathlib import Path


def prepared(model: Path, out: Path) -> Path:
    """The same function in the form that is quantised, as ONNX Runtime's own guide has it."""
    from onnxruntime.quantization.shape_inference import quant_pre_process

    made = out / "prepared.onnx"
    # Its symbolic shape inference refuses models that ONNX's own inference takes.
    quant_pre_process(str(model), str(made), skip_symbolic_shape=True)
    return made
