"""A PyTorch module as an exported program, which is how DeltaNN stores it."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any


def save_program(module: Any, example: Any, path: Path) -> Path:
    """Export with a free batch where the graph allows it, else with a batch of 1.

    Args:
        module: a ``torch.nn.Module``; put into evaluation mode.
        example: a tensor of one input, batch first.
        path: of the ``.pt2`` file.
    """
    import torch

    module = module.eval()
    with torch.no_grad():
        try:
            batch = torch.export.Dim("batch", min=1, max=1024)
            two = torch.cat([example, example])
            program = torch.export.export(module, (two,), dynamic_shapes=({0: batch},), strict=False)
        except Exception:
            traceback.print_exc()
            program = torch.export.export(module, (example,), strict=False)
        torch.export.save(program, path)
    return path
