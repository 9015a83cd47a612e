"""``max_pool`` and ``avg_pool``, in two dimensions."""

from __future__ import annotations

import numpy as np

from deltann_engines.mil.ops.windows import pads, windows


def _seen(
    x: np.ndarray,
    kernel: np.ndarray,
    strides: np.ndarray | None,
    pad_type: str,
    pad: np.ndarray | None,
    ceil_mode: np.ndarray | bool,
    fill: float,
) -> np.ndarray:
    """Windows of the input, padded by ``fill``; further where an incomplete last window counts."""
    if x.ndim != 4:
        raise ValueError(f"pooling over {x.ndim - 2} dimensions: mil-reference has it over two")
    size = [int(one) for one in kernel]
    step = [1, 1] if strides is None else [int(one) for one in strides]
    around = pads(pad_type, pad, x.shape[2:], size, step)
    if bool(ceil_mode):
        around = [
            (before, after + _further(side + before + after, side + before, one, by))
            for (before, after), side, one, by in zip(around, x.shape[2:], size, step, strict=True)
        ]
    return windows(np.pad(x, [(0, 0), (0, 0), *around], constant_values=fill), size, step)


def _further(side: int, starts_before: int, size: int, step: int) -> int:
    """What is added after a padded side; a window has to begin before the padding behind the input."""
    count = -(-(side - size) // step) + 1
    if (count - 1) * step >= starts_before:
        count -= 1
    return max((count - 1) * step + size - side, 0)


def max_pool(
    x: np.ndarray,
    kernel_sizes: np.ndarray,
    strides: np.ndarray | None = None,
    pad_type: str = "valid",
    pad: np.ndarray | None = None,
    ceil_mode: np.ndarray | bool = False,
) -> np.ndarray:
    """The largest of each window; padding never is."""
    result: np.ndarray = _seen(x, kernel_sizes, strides, pad_type, pad, ceil_mode, -np.inf).max(axis=(4, 5))
    return result


def avg_pool(
    x: np.ndarray,
    kernel_sizes: np.ndarray,
    strides: np.ndarray | None = None,
    pad_type: str = "valid",
    pad: np.ndarray | None = None,
    exclude_padding_from_average: np.ndarray | bool = False,
    ceil_mode: np.ndarray | bool = False,
) -> np.ndarray:
    """The mean of each window, over the padding too unless that is excluded."""
    total = _seen(x, kernel_sizes, strides, pad_type, pad, ceil_mode, 0.0).sum(axis=(4, 5))
    if not bool(exclude_padding_from_average):
        return (total / np.prod(kernel_sizes)).astype(x.dtype)
    counted = _seen(np.ones_like(x), kernel_sizes, strides, pad_type, pad, ceil_mode, 0.0).sum(axis=(4, 5))
    result: np.ndarray = total / counted
    return result


OPS = {"max_pool": max_pool, "avg_pool": avg_pool}
