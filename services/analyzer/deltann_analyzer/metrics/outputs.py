"""Errors of whole outputs, input by input and class by class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import softmax  # type: ignore[import-untyped]

from deltann.model import OutputKind

SMALLEST_REFERENCE = 1e-6
"""A relative error is by |a| or this, whichever is larger: an output of zero has no relative error."""
_CHUNK_VALUES = 1 << 20


@dataclass(frozen=True)
class Errors:
    """Mean and largest |a − b|, and the same of |a − b| / max(|a|, 1e-6), over all valid inputs and classes."""

    abs_mean: float
    abs_max: float
    rel_mean: float
    rel_max: float


def common_space(a: OutputKind, b: OutputKind) -> OutputKind | None:
    """The space in which outputs of these kinds can be compared; None where there is none.

    Logits against probabilities are compared as probabilities: logits have a softmax, but no way leads back.
    """
    if a == b:
        return a
    return "probabilities" if {a, b} == {"logits", "probabilities"} else None


def to_space(outputs: npt.NDArray[np.floating], space: OutputKind, wanted: OutputKind) -> npt.NDArray[np.float64]:
    """Outputs [N, C] of one space in another, as float64. A softmax is never applied to probabilities.

    Raises:
        ValueError: if no way leads from one to the other.
    """
    values = np.asarray(outputs, np.float64)
    if space == wanted:
        return values
    if (space, wanted) == ("logits", "probabilities"):
        probabilities: npt.NDArray[np.float64] = softmax(values, axis=1)
        return probabilities
    raise ValueError(f"there is no way from {space} to {wanted}")


def output_errors(
    a: npt.NDArray[np.floating],
    b: npt.NDArray[np.floating],
    valid: npt.NDArray[np.bool_],
    *,
    spaces: tuple[OutputKind, OutputKind] = ("values", "values"),
) -> Errors | None:
    """Compare outputs in their common space, summed in float64, a chunk of inputs at a time (they may be mapped).

    Args:
        a: [N, C], the reference.
        b: [N, C].
        valid: [N], the inputs to compare.
        spaces: what a and b are in.

    Returns:
        None where there is nothing to compare: no valid input, no class, or no common space.

    Raises:
        ValueError: if the shapes do not fit.
    """
    if a.ndim != 2 or a.shape != b.shape or valid.shape != a.shape[:1]:
        raise ValueError(f"outputs {a.shape} and {b.shape} with valid {valid.shape} are not [N, C] twice and [N]")
    space, rows = common_space(*spaces), np.flatnonzero(valid)
    if space is None or not rows.size or not a.shape[1]:
        return None
    total, largest = np.zeros(2), np.zeros(2)
    step = max(1, _CHUNK_VALUES // a.shape[1])
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        reference = to_space(a[some], spaces[0], space)
        error = np.abs(reference - to_space(b[some], spaces[1], space))
        relative = error / np.maximum(np.abs(reference), SMALLEST_REFERENCE)
        total += error.sum(), relative.sum()
        largest = np.maximum(largest, (error.max(), relative.max()))
    mean = total / (len(rows) * a.shape[1])
    return Errors(float(mean[0]), float(largest[0]), float(mean[1]), float(largest[1]))
