"""ONNX to PyTorch, by onnx2torch, saved as an exported program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
    module = _constants_inside(build(model).eval())
    shape = [1 if side is None else side for side in info.input.shape]
    example = torch.zeros(shape, dtype=getattr(torch, info.input.dtype))
    made = out / "model.pt2"
    with torch.no_grad():
        torch.export.save(torch.export.export(module, (example,), strict=False), made)
    return Made(made, "pt2", changes)


def _constants_inside(module: Any) -> Any:
    """The same module with pads, axes and shapes as numbers.

    onnx2torch keeps them as buffers and reads them when it runs; torch.export takes what is read from a buffer for
    data that nobody knows yet, and gives up after minutes. A symbolic trace reads them once.
    """
    import torch
    from torch import fx

    class Tracer(fx.Tracer):
        def create_arg(self, a: Any) -> Any:
            if isinstance(a, torch.Tensor) and a.ndim == 0 and not a.is_floating_point():
                return a.item()
            return super().create_arg(a)

        def create_proxy(self, kind: str, target: Any, args: Any, kwargs: Any, *rest: Any, **named: Any) -> Any:
            if target is torch.nn.functional.pad and isinstance(kwargs.get("value"), torch.Tensor):
                kwargs = {**kwargs, "value": kwargs["value"].item()}
            return super().create_proxy(kind, target, args, kwargs, *rest, **named)

    tracer = Tracer()
    graph = tracer.trace(module)
    return fx.GraphModule(tracer.root, graph).eval()


TOOLS = (Tool("onnx2torch", ("onnx2torch", "torch", "onnx"), "onnx", "pytorch", ("onnx",), "onnx", convert),)
