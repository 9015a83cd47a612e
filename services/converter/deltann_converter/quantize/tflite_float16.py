"""TFLite with weights in float16; on a processor they are widened, and it computes in float32."""

from __future__ import annotations

from pathlib import Path

from deltann.model import ModelInfo
from deltann_converter.quantize import tflite
from deltann_converter.quantize.base import Calibration, Quantizer


def quantize(path: Path, info: ModelInfo, out: Path, calibration: Calibration) -> Path:
    """Write the model."""
    import tensorflow as tf

    made = tflite.converter(tflite.saved_model(path, info, out))
    made.target_spec.supported_types = [tf.float16]
    return tflite.write(made, out)


SCHEME = Quantizer(tflite.DISTRIBUTIONS, quantize)
