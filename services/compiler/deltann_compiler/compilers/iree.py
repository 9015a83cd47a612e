"""IREE: ONNX into torch-mlir's dialect, and from there LLVM code for this processor."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_LONGEST = 300
_OPERATOR = re.compile(r'"onnx\.(\w+)"')


def build(model: Any, level: str | None, path: Path) -> None:
    """Compile a model into a .vmfb with its parameters inside.

    Raises:
        Exception: whatever IREE raises, for an operator that it lacks too.
    """
    import onnx
    from iree.compiler import ir, tools
    from iree.compiler.extras import onnx_importer

    graph = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(model, data_prop=True))
    module = graph.create_module(context=ir.Context()).operation
    onnx_importer.NodeImporter.define_function(graph.main_graph, module).import_all()
    module.verify()
    tools.compile_str(
        module.get_asm(),
        input_type="onnx",
        target_backends=["llvm-cpu"],
        output_file=str(path),
        extra_args=["--iree-llvmcpu-target-cpu=host", *([f"--iree-opt-level={level}"] if level else [])],
    )


def telling_line(error: Exception) -> str:
    """What the compiler says first of what is wrong, somewhere in its diagnostics, and the operator shown there."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [line.partition("error: ")[2].partition(": %")[0] for line in lines if "error: " in line]
    operator = _OPERATOR.search(str(error))
    where = f" (of the operator {operator[1]})" if operator else ""
    return (said or lines or [type(error).__name__])[0][:_LONGEST] + where
