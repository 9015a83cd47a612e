"""``conv``, in two dimensions: windows laid out as a matrix, one product per group."""

from __future__ import annotations

import numpy as np

from deltann_engines.mil.ops.windows import pads, windows


def conv(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    strides: np.ndarray | None = None,
    pad_type: str = "valid",
    pad: np.ndarray | None = None,
    dilations: np.ndarray | None = None,
    groups: np.ndarray | int = 1,
) -> np.ndarray:
    """Cross-correlation.

    Args:
        x: [n, channels, height, width].
        weight: [filters, channels / groups, kernel height, kernel width].
        bias: [filters].
        strides: two.
        pad_type: see :func:`pads`.
        pad: with zeros.
        dilations: two.
        groups: of channels that see each other.

    Returns:
        [n, filters, out height, out width].
    """
    if x.ndim != 4:
        raise ValueError(f"conv over {x.ndim - 2} dimensions: mil-reference has it over two")
    step = [1, 1] if strides is None else [int(one) for one in strides]
    spread = [1, 1] if dilations is None else [int(one) for one in dilations]
    kernel = weight.shape[2:]
    extent = [(size - 1) * one + 1 for size, one in zip(kernel, spread, strict=True)]
    padded = np.pad(x, [(0, 0), (0, 0), *pads(pad_type, pad, x.shape[2:], extent, step)])
    seen = windows(padded, kernel, step, spread)
    n, channels, height, width = seen.shape[:4]
    count, filters = int(groups), len(weight)
    if count == channels == filters:  # depthwise: a sum of shifted inputs, without copies
        made = sum(
            seen[..., i, j] * weight[None, :, 0, i, j, None, None] for i in range(kernel[0]) for j in range(kernel[1])
        )
    else:
        columns = seen.reshape(n, count, channels // count, height, width, *kernel)
        laid = columns.transpose(0, 1, 2, 5, 6, 3, 4).reshape(n, count, -1, height * width)
        made = np.matmul(weight.reshape(count, filters // count, -1), laid).reshape(n, filters, height, width)
    result: np.ndarray = made if bias is None else made + bias[None, :, None, None]
    return result


OPS = {"conv": conv}
