"""PyTorch's exported programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deltann_engines.torch_engine import load_program

from deltann.model import ModelInfo


def load(path: Path, info: ModelInfo) -> Any:
    """Import a .pt2 file; a free batch is made 1 by exporting the program again."""
    import torch
    from tvm.relax.frontend.torch import from_exported_program

    program = load_program(path)
    if None in info.input.shape:
        module = program.module()
        module.train = lambda mode=True: module  # an exported module refuses to change its mode, and is asked to
        shape = [1 if side is None else side for side in info.input.shape]
        example = torch.zeros(shape, dtype=getattr(torch, info.input.dtype))
        with torch.no_grad():
            program = torch.export.export(module, (example,), strict=False)
    return from_exported_program(program, keep_params_as_input=False, unwrap_unit_return_tuple=True)
