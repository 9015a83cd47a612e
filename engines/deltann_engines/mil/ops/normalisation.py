"""``batch_norm`` with its stored statistics, and ``softmax``."""

from __future__ import annotations

from typing import Any

import numpy as np


def batch_norm(
    x: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    gamma: np.ndarray | None = None,
    beta: np.ndarray | None = None,
    epsilon: Any = 1e-5,
) -> np.ndarray:
    """γ (x − μ) / √(σ² + ε) + β, by channel: axis 1."""
    shape = (1, -1, *[1] * (x.ndim - 2))
    scale = 1 / np.sqrt(variance + x.dtype.type(epsilon))
    scale = scale if gamma is None else scale * gamma
    shift = -mean * scale if beta is None else beta - mean * scale
    return (x * scale.reshape(shape) + shift.reshape(shape)).astype(x.dtype)


def softmax(x: np.ndarray, axis: Any = -1) -> np.ndarray:
    """eˣ over its sum along an axis."""
    powers = np.exp(x - x.max(axis=int(axis), keepdims=True))
    result: np.ndarray = powers / powers.sum(axis=int(axis), keepdims=True)
    return result


OPS = {"batch_norm": batch_norm, "softmax": softmax}
