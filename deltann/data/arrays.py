"""An ``.npz`` as a data set: ``x`` [n, …] and, where it has labels, ``y`` [n]."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deltann.data.npz import Array, read_npz
from deltann.errors import DataError


def read_arrays(path: Path, name: str) -> tuple[Array, NDArray[np.int64] | None]:
    """The inputs of an ``.npz``, and their labels where it has any.

    Args:
        path: where it lies.
        name: how the person knows it, for the message.

    Raises:
        DataError: for a file that is damaged, too large or holds pickles, no inputs, inputs that are no finite numbers,
            or labels that are no class numbers, one for each input.
    """
    arrays = read_npz(path, name, ("x", "y"))
    if "x" not in arrays:
        raise DataError(f"{name} has no array x. Save it with np.savez(file, x=inputs, y=labels); y may be left out.")
    x = arrays["x"]
    if x.ndim < 2 or not x.size:
        raise DataError(
            f"The array x of {name} has the shape {list(x.shape)}. It needs at least one input, along its first axis, "
            "and what a model takes along the others."
        )
    if x.dtype.kind not in "fiub":
        raise DataError(f"The array x of {name} is of type {x.dtype}. Save numbers: float32, or an integer type.")
    if x.dtype.kind == "f" and not (finite := np.isfinite(x).reshape(len(x), -1).all(axis=1)).all():
        wrong = np.flatnonzero(~finite)
        raise DataError(
            f"{len(wrong)} of the {len(x)} inputs in {name} hold NaN or infinite values, the first is x[{wrong[0]}]. "
            "Remove or correct them."
        )
    return x, None if "y" not in arrays else _labels(arrays["y"], len(x), name)


def _labels(y: Array, count: int, name: str) -> NDArray[np.int64]:
    if y.shape != (count,):
        hint = " If they are one-hot, save y.argmax(axis=1)." if y.ndim == 2 and len(y) == count else ""
        raise DataError(
            f"{name} has {count} inputs in x but labels of shape {list(y.shape)} in y.{hint} One label each."
        )
    if y.dtype.kind not in "fiub":
        raise DataError(f"The labels y of {name} are of type {y.dtype}. Save class numbers from 0.")
    values = y.astype(np.float64)
    wrong = np.flatnonzero(~((values >= 0) & (values < 2**31) & (values == np.floor(values))))
    if len(wrong):
        raise DataError(
            f"{len(wrong)} of the labels in {name} are no class numbers from 0, the first is y[{wrong[0]}] = "
            f"{y[wrong[0]]}. Correct them, or leave y out."
        )
    return y.astype(np.int64)
