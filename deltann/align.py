"""Alignment of outputs before anything is compared: dequantised, background dropped, probabilities renormalised."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deltann.model import ModelInfo, OutputKind


def dequantise(raw: NDArray[np.generic], info: ModelInfo) -> NDArray[np.float32]:
    """The real values of an output, float32, by the model's output scale and zero point where it has them."""
    quantisation = info.output.quantisation
    if quantisation is None:
        return raw.astype(np.float32)
    real: NDArray[np.float32] = (raw.astype(np.float32) - quantisation.zero_point) * np.float32(quantisation.scale)
    return real


def align(raw: NDArray[np.generic], info: ModelInfo) -> tuple[NDArray[np.float32], OutputKind]:
    """Outputs in the data set's own classes.

    Args:
        raw: [n, C] as the model gives them.
        info: the model; its ``class_offset`` leading classes are dropped.

    Returns:
        float32 [n, C − class_offset], and what they are. Probabilities sum to 1 again after the background is gone; a
        row that had nothing but background becomes NaN.
    """
    real = dequantise(raw.reshape(len(raw), -1), info)
    real = real[:, info.class_offset :]
    if info.output_kind == "probabilities" and info.class_offset:
        total = real.sum(axis=1, keepdims=True)
        real = np.divide(real, total, out=np.full_like(real, np.nan), where=total != 0)
    return np.ascontiguousarray(real), info.output_kind


def softmax(logits: NDArray[np.floating]) -> NDArray[np.floating]:
    """Softmax over the last axis, shifted by the row's maximum so that it cannot overflow."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    result: NDArray[np.floating] = shifted / shifted.sum(axis=-1, keepdims=True)
    return result


def valid_rows(outputs: NDArray[np.floating]) -> NDArray[np.bool_]:
    """bool [n]: rows without NaN and Inf."""
    result: NDArray[np.bool_] = np.isfinite(outputs).all(axis=1)
    return result


def top_k(outputs: NDArray[np.floating], k: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The k best classes of each row, best first, ties to the lowest index.

    Returns:
        labels int32 [n, k] and scores float32 [n, k]. With fewer than k classes, k is their number; a row with NaN or
        Inf has labels −1 and scores NaN.
    """
    k = min(k, outputs.shape[1])
    labels = np.argsort(-outputs, axis=1, kind="stable")[:, :k].astype(np.int32)
    scores = np.take_along_axis(outputs, labels, axis=1).astype(np.float32)
    invalid = ~valid_rows(outputs)
    labels[invalid], scores[invalid] = -1, np.nan
    return labels, scores
