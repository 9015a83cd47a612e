"""PyTorch: exported programs (.pt2) and TorchScript."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deltann.model import ModelInfo
from deltann_engines.base import Session


class TorchSession(Session):
    """A module in evaluation mode; gradients off."""

    def __init__(self, module: Any, info: ModelInfo) -> None:
        self.info = info
        self._module = module

    def _run(self, x: np.ndarray) -> np.ndarray:
        import torch

        with torch.inference_mode():
            result = self._module(torch.from_numpy(x))
        first = result[0] if isinstance(result, list | tuple) else result
        array: np.ndarray = first.numpy()
        return array


def load(path: Path, info: ModelInfo, threads: int) -> Session:
    """Load a .pt2 or TorchScript file; neither unpickles code."""
    import torch

    torch.set_num_threads(threads)
    if info.format == "torchscript":
        return TorchSession(torch.jit.load(path, map_location="cpu").eval(), info)
    return TorchSession(torch.export.load(path).module(), info)
