"""Reductions over axes: all of them where none is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def _over(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(x: np.ndarray, axes: np.ndarray | None = None, keep_dims: Any = False) -> Any:
        along = None if axes is None else tuple(int(axis) for axis in np.ravel(axes))
        return function(x, axis=along, keepdims=bool(keep_dims)).astype(x.dtype)

    return reduce


OPS = {"reduce_mean": _over(np.mean), "reduce_sum": _over(np.sum), "reduce_max": _over(np.max)}
