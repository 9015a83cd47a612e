"""ONNX Runtime's dynamic quantisation: weights int8, by the tensor; what they meet is quantised anew for every input.

Its defaults otherwise: MatMul, Gemm, Conv, Gather, LSTM and attention, each where ONNX Runtime has an integer operator.
"""

from __future__ import annotations

from pathlib import Path

from deltann.model import ModelInfo
from deltann_converter.quantize.base import Calibration, Quantizer


def quantize(path: Path, info: ModelInfo, out: Path, calibration: Calibration) -> Path:
    """Write the model."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    made = out / "model.onnx"
    quantize_dynamic(path, made, weight_type=QuantType.QUInt8)  # of Conv it has no kernel for signed weights
    return made


SCHEME = Quantizer(("onnxruntime", "onnx"), quantize)
