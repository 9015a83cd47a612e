"""PyTorch to ONNX by torch's two exporters: by tracing (preferred), and by torch.export.

The one by tracing gives the opset that is asked for; the other one may answer a higher one (18), without an exception.
The opset that came out is read off the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deltann_engines.torch_engine import load_program

from deltann.model import ModelInfo
from deltann_converter.tools.base import Made, Options, Tool


def traceable(path: Path, info: ModelInfo) -> Any:
    """The module of a program or script, ready to be traced or exported."""
    import torch

    if info.format == "torchscript":
        return torch.jit.load(path, map_location="cpu").eval()
    module = load_program(path).module()
    # The exporter sets the mode of what it traces; an exported program has only the one it was made in, and refuses.
    module.train = lambda mode=True: module  # type: ignore[method-assign]
    return module


def example(info: ModelInfo, batch: int = 1) -> Any:
    """Zeros as the model takes them; ``batch`` of them where that is free."""
    import torch

    shape = [batch if side is None else side for side in info.input.shape]
    return torch.zeros(shape, dtype=getattr(torch, info.input.dtype))


def by_tracing(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """Trace with a batch of 1; the batch stays free where the model's is."""
    import torch

    made = out / "model.onnx"
    with torch.inference_mode():
        torch.onnx.export(
            traceable(path, info),
            (example(info),),
            made,
            input_names=["input"],
            output_names=["output"],
            opset_version=options.opset,
            dynamic_axes={"input": {0: "batch"}, "output": {0: "batch"}} if info.input.shape[0] is None else None,
            dynamo=False,
        )
    return Made(made, "onnx")


def by_export(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """Export an exported program, whose free batch, if any, stays free."""
    import torch

    made = out / "model.onnx"
    torch.onnx.export(
        load_program(path),
        (example(info, 2),),
        made,
        input_names=["input"],
        output_names=["output"],
        opset_version=options.opset,
        external_data=False,
        dynamo=True,
    )
    return Made(made, "onnx")


_DISTRIBUTIONS = ("torch", "onnx")
TOOLS = (
    Tool("torch-onnx-script", _DISTRIBUTIONS, "pytorch", "onnx", ("pt2", "torchscript"), "onnx", by_tracing),
    Tool("torch-onnx-dynamo", (*_DISTRIBUTIONS, "onnxscript"), "pytorch", "onnx", ("pt2",), "onnx", by_export),
)
