"""ONNX to PyTorch, by onnx2torch, saved as an exported program."""

from __future__ import annotations

from pathlib import Path

from deltann_engines.onnx_normalise import FOR_TORCH, normalise

from deltann.model import ModelInfo
from deltann_converter.tools.base import Made, Options, Tool


def convert(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """Build the module, then export it; the batch is 1, since not every converted graph exports with a free one."""
    import onnx
    import torch
    import torchvision  # noqa: F401  (onnx2torch needs it, and it must come before TensorFlow)
    from onnx2torch import convert as build

    model = onnx.load(path)
    changes = normalise(model, FOR_TORCH) if options.normalise else []
    module = build(model).eval()
    shape = [1 if side is None else side for side in info.input.shape]
    example = torch.zeros(shape, dtype=getattr(torch, info.input.dtype))
    made = out / "model.pt2"
    with torch.no_grad():
        torch.export.save(torch.export.export(module, (example,), strict=False), made)
    return Made(made, "pt2", changes)


TOOLS = (Tool("onnx2torch", ("onnx2torch", "torch", "onnx"), "onnx", "pytorch", ("onnx",), "onnx", convert),)
