"""The schemes of quantisation, one file each with ``SCHEME``. Adding one is a file, its facts in
``deltann/kinds/quantize.py`` and a row below."""

from __future__ import annotations

from importlib import import_module

from deltann.kinds.quantize import Scheme
from deltann_converter.quantize.base import Quantizer

_MODULES: dict[Scheme, str] = {
    "ort-dynamic-int8": "ort_dynamic_int8",
    "ort-static-int8": "ort_static_int8",
    "tflite-float16": "tflite_float16",
    "tflite-dynamic-int8": "tflite_dynamic_int8",
    "tflite-full-int8": "tflite_full_int8",
}


def quantizer(scheme: Scheme) -> Quantizer:
    """What makes the models of a scheme."""
    found: Quantizer = import_module(f"{__name__}.{_MODULES[scheme]}").SCHEME
    return found


__all__ = ["Quantizer", "quantizer"]
