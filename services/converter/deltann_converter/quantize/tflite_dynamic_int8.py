"""TFLite's dynamic range: weights int8 by the channel, activations quantised anew for every input.

Tensors of fewer than 1,024 elements stay float32, as its converter has it.
"""

from __future__ import annotations

from pathlib import Path

from deltann.model import ModelInfo
from deltann_converter.quantize import tflite
from deltann_converter.quantize.base import Calibration, Quantizer


def quantize(path: Path, info: ModelInfo, out: Path, calibration: Calibration) -> Path:
    """Write the model."""
    return tflite.write(tflite.converter(tflite.saved_model(path, info, out)), out)


SCHEME = Quantizer(tflite.DISTRIBUTIONS, quantize)
