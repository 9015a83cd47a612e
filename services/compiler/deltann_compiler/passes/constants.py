"""Constants of the IR as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


def tensor_of(expr: Any) -> np.ndarray | None:
    """The value of a tensor constant; None for any other expression."""
    held = getattr(expr, "value", None)
    if not hasattr(held, "numpy"):
        return None
    value: np.ndarray = held.numpy()
    return value
