"""What a scheme of quantisation declares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deltann.model import ModelInfo

Calibration = Callable[[ModelInfo], Sequence[np.ndarray]]
"""The calibration set as a model takes it: each a batch of 1; nothing for a scheme that has none."""


@dataclass(frozen=True)
class Quantizer:
    """A scheme.

    Args:
        distributions: what makes its models; their versions are part of every result.
        quantize: ``quantize(path, info, out folder, calibration)`` gives the path of what it made.
    """

    distributions: tuple[str, ...]
    quantize: Callable[[Path, ModelInfo, Path, Calibration], Path]
