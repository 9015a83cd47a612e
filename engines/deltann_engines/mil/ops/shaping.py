"""Shapes, axes and parts of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def _numbers(values: Any) -> list[int]:
    return [int(value) for value in np.ravel(values)]


def reshape(x: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """A side of −1 is what is left, one of 0 that of the input."""
    return x.reshape([x.shape[index] if side == 0 else side for index, side in enumerate(_numbers(shape))])


def transpose(x: np.ndarray, perm: np.ndarray) -> np.ndarray:
    """Axes in another order."""
    return x.transpose(_numbers(perm))


def expand_dims(x: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Axes of one, at these places of the result."""
    return np.expand_dims(x, tuple(_numbers(axes)))


def squeeze(x: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
    """Without these axes of one, or without any."""
    return np.squeeze(x, None if axes is None else tuple(_numbers(axes)))


def _several(values: Any) -> list[np.ndarray]:
    return list(values) if isinstance(values, list | tuple) else [values]


def concat(values: Any, axis: Any, interleave: Any = False) -> np.ndarray:
    """One behind the other."""
    if bool(interleave):
        raise ValueError("concat that interleaves is not what mil-reference has")
    return np.concatenate(_several(values), axis=int(axis))


def stack(values: Any, axis: Any) -> np.ndarray:
    """Along a new axis."""
    return np.stack(_several(values), axis=int(axis))


def split(x: np.ndarray, axis: Any, num_splits: Any = None, split_sizes: Any = None) -> tuple[np.ndarray, ...]:
    """Into equal parts, or parts of these sizes."""
    at = int(num_splits) if split_sizes is None else np.cumsum(_numbers(split_sizes))[:-1].tolist()
    return tuple(np.split(x, at, axis=int(axis)))


def _mask(mask: Any, rank: int) -> list[bool]:
    return [False] * rank if mask is None else [bool(one) for one in np.ravel(mask)]


def slice_by_index(
    x: np.ndarray,
    begin: Any,
    end: Any,
    stride: Any = None,
    begin_mask: Any = None,
    end_mask: Any = None,
    squeeze_mask: Any = None,
) -> np.ndarray:
    """Python's slices; a masked begin or end is open, a squeezed axis is an index."""
    steps: Sequence[int] = [1] * x.ndim if stride is None else _numbers(stride)
    opened, closed, squeezed = (_mask(mask, x.ndim) for mask in (begin_mask, end_mask, squeeze_mask))
    parts: list[int | slice] = []
    for axis, (start, stop) in enumerate(zip(_numbers(begin), _numbers(end), strict=True)):
        if squeezed[axis]:
            parts.append(start)
            continue
        parts.append(slice(None if opened[axis] else start, None if closed[axis] else stop, steps[axis]))
    return x[tuple(parts)]


def pad(x: np.ndarray, pad: Any, mode: str = "constant", constant_val: Any = 0) -> np.ndarray:
    """Before and after each of the last axes: by a constant, reflected, or by the edge."""
    given = _numbers(pad)
    around = [(0, 0)] * (x.ndim - len(given) // 2) + list(zip(given[::2], given[1::2], strict=True))
    if mode == "constant":
        return np.pad(x, around, constant_values=x.dtype.type(constant_val))
    return np.pad(x, around, mode="edge" if mode == "replicate" else "reflect")


def tile(x: np.ndarray, reps: Any) -> np.ndarray:
    """Repeated along each axis."""
    return np.tile(x, _numbers(reps))


_INTO = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
}


def scatter(
    data: np.ndarray,
    indices: np.ndarray,
    updates: np.ndarray,
    axis: Any = 0,
    mode: str = "add",
    validate_indices: Any = False,
) -> np.ndarray:
    """Updates put into the places along ``axis`` that ``indices`` names, or joined with what is there.

    Args:
        data: any shape.
        indices: of one dimension; negative ones count from the end.
        updates: as ``data``, with as many along ``axis`` as there are indices.
        axis: of both.
        mode: ``update``, or how they are joined.
    """
    made = data.copy()
    places = np.moveaxis(made, int(axis), 0)
    given = np.moveaxis(updates, int(axis), 0)
    if mode == "update":
        places[np.ravel(indices)] = given
    else:
        _INTO[mode].at(places, np.ravel(indices), given)
    return made


OPS = {
    "reshape": reshape,
    "transpose": transpose,
    "expand_dims": expand_dims,
    "squeeze": squeeze,
    "concat": concat,
    "stack": stack,
    "split": split,
    "slice_by_index": slice_by_index,
    "pad": pad,
    "tile": tile,
    "scatter": scatter,
    "shape": lambda x: np.array(x.shape, np.int32),
}
