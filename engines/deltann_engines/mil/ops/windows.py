"""Sliding windows over [n, channels, height, width], shared by convolution and pooling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def pads(
    kind: str, pad: np.ndarray | None, sides: Sequence[int], kernel: Sequence[int], strides: Sequence[int]
) -> list[tuple[int, int]]:
    """(before, after) of each spatial side, for a dilated ``kernel``.

    Args:
        kind: ``valid``, ``custom`` (as given), ``same`` (odd one after), ``same_lower`` (odd one before).
        pad: before and after, side by side.
        sides: of the input.
        kernel: extents.
        strides: of the window.
    """
    if kind == "valid":
        return [(0, 0)] * len(sides)
    if kind == "custom":
        given = [int(value) for value in np.ravel(pad)] if pad is not None else [0] * 2 * len(sides)
        return list(zip(given[::2], given[1::2], strict=True))
    found = []
    for side, extent, stride in zip(sides, kernel, strides, strict=True):
        total = max((-(-side // stride) - 1) * stride + extent - side, 0)
        less, more = total // 2, total - total // 2
        found.append((less, more) if kind == "same" else (more, less))
    return found


def windows(
    x: np.ndarray, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int] = (1, 1)
) -> np.ndarray:
    """Views [n, channels, out height, out width, kernel height, kernel width] of a padded input."""
    extent = [(size - 1) * step + 1 for size, step in zip(kernel, dilations, strict=True)]
    every = np.lib.stride_tricks.sliding_window_view(x, extent, axis=(2, 3))
    return every[:, :, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]]
