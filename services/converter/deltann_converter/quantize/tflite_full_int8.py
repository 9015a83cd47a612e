"""TFLite in integers throughout (Jacob et al. 2018): weights int8 by the channel, activations int8 by the tensor.

Input and output stay float32, quantised and dequantised inside. An operator without an integer kernel fails it.
"""

from __future__ import annotations

from pathlib import Path

from deltann.model import ModelInfo
from deltann_converter.quantize import tflite
from deltann_converter.quantize.base import Calibration, Quantizer


def quantize(path: Path, info: ModelInfo, out: Path, calibration: Calibration) -> Path:
    """Write the model."""
    import tensorflow as tf
    from deltann_engines.describe import describe

    saved = tflite.saved_model(path, info, out)
    inputs = calibration(describe(saved, "savedmodel", output=info.output_kind))
    made = tflite.converter(saved)
    made.representative_dataset = lambda: ([x] for x in inputs)
    made.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    return tflite.write(made, out)


SCHEME = Quantizer(tflite.DISTRIBUTIONS, quantize)
