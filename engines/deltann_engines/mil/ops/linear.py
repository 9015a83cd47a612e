"""Matrix products and look-ups in a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np


def linear(x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
    """x·Wᵀ + b, of x [..., in], W [out, in], b [out]."""
    made: np.ndarray = x @ weight.T
    return made if bias is None else made + bias


def matmul(x: np.ndarray, y: np.ndarray, transpose_x: Any = False, transpose_y: Any = False) -> np.ndarray:
    """x·y over the last two axes, either exchanged where asked."""
    left = np.swapaxes(x, -1, -2) if bool(transpose_x) else x
    right = np.swapaxes(y, -1, -2) if bool(transpose_y) else y
    result: np.ndarray = np.matmul(left, right)
    return result


def gather(
    x: np.ndarray, indices: np.ndarray, axis: Any = 0, batch_dims: Any = 0, validate_indices: Any = False
) -> np.ndarray:
    """Rows (or slices along ``axis``) by their indices; negative ones count from the end."""
    if int(batch_dims):
        raise ValueError("gather with batch_dims is not what mil-reference has")
    return np.take(x, indices, axis=int(axis))


OPS = {"linear": linear, "matmul": matmul, "gather": gather}
