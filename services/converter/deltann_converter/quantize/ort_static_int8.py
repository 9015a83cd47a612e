"""ONNX Runtime's static quantisation: weights and activations int8 by the tensor, in QDQ form.

Ranges of activations are the extremes over the calibration set (its MinMax). Both are signed, since sums of unsigned by
signed products saturate in 16 bits on x86 processors without VNNI.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from deltann.model import ModelInfo
from deltann_converter.quantize.base import Calibration, Quantizer
from deltann_converter.quantize.onnx_model import prepared


class _Reader:
    """The calibration set as ONNX Runtime asks for it."""

    def __init__(self, name: str, inputs: Sequence[np.ndarray]) -> None:
        self._left: Iterator[dict[str, np.ndarray]] = iter([{name: x} for x in inputs])

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self._left, None)


def quantize(path: Path, info: ModelInfo, out: Path, calibration: Calibration) -> Path:
    """Write the model."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    CalibrationDataReader.register(_Reader)
    made = out / "model.onnx"
    quantize_static(
        prepared(path, out),
        made,
        _Reader(info.input.name, calibration(info)),
        quant_format=QuantFormat.QDQ,
        activation_type=QuantType.QInt8,
        weight_type=QuantType.QInt8,
    )
    return made


SCHEME = Quantizer(("onnxruntime", "onnx"), quantize)
