"""ONNX to TensorFlow and TFLite by another hand: onnx2tf, in an environment of its own.

Its pins do not fit beside ours, so it is called as a program. It is registered where ``DELTANN_ONNX2TF_PYTHON`` names
the Python of an environment that has it. It tries to download a calibration file unless one lies in the working folder.
"""

from __future__ import annotations

import os
from pathlib import Path

from deltann.model import ModelInfo
from deltann_converter.tools import program
from deltann_converter.tools.base import Made, Options, Tool

VARIABLE = "DELTANN_ONNX2TF_PYTHON"


def _run(path: Path, out: Path) -> Path:
    folder = out / "onnx2tf"
    program.run(
        "onnx2tf", [os.environ[VARIABLE], "-m", "onnx2tf", "-i", str(path), "-o", str(folder), "-osd"], folder=out
    )
    return folder


def to_saved_model(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """The SavedModel that onnx2tf writes."""
    return Made(_run(path, out), "savedmodel")


def to_tflite(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """The float32 flatbuffer that onnx2tf writes."""
    return Made(next(_run(path, out).glob("*_float32.tflite")), "tflite")


def tools(python: str | None) -> tuple[Tool, ...]:
    """The tools of the environment with that Python; none where none is named or there is no such file."""
    if not python or not Path(python).exists():
        return ()
    more = ("onnx2tf", "tensorflow", "onnx")
    return (
        Tool("onnx2tf", more, "onnx", "tensorflow", ("onnx",), "onnx", to_saved_model, python),
        Tool("onnx2tf", more, "onnx", "tflite", ("onnx",), "onnx", to_tflite, python),
    )


TOOLS = tools(os.environ.get(VARIABLE))
