"""ONNX to TensorFlow and TFLite by another hand: onnx2tf, in an environment of its own.

Its pins do not fit beside ours, so it is called as a program. It is registered where ``DELTANN_ONNX2TF_PYTHON`` names
the Python of an environment that has it. It tries to download a calibration file unless one lies in the working folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from deltann.model import ModelInfo
from deltann_converter.tools.base import Made, Options, Tool

VARIABLE = "DELTANN_ONNX2TF_PYTHON"


def _run(path: Path, out: Path) -> Path:
    folder = out / "onnx2tf"
    done = subprocess.run(
        [os.environ[VARIABLE], "-m", "onnx2tf", "-i", str(path), "-o", str(folder), "-osd"],
        capture_output=True,
        text=True,
        check=False,
        cwd=out,
    )
    print(done.stdout, done.stderr, file=sys.stderr)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise RuntimeError(f"onnx2tf ended with {done.returncode}: {lines[-1] if lines else 'no message'}")
    return folder


def to_saved_model(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """The SavedModel that onnx2tf writes."""
    return Made(_run(path, out), "savedmodel")


def to_tflite(path: Path, info: ModelInfo, out: Path, options: Options) -> Made:
    """The float32 flatbuffer that onnx2tf writes."""
    return Made(next(_run(path, out).glob("*_float32.tflite")), "tflite")


TOOLS = (
    (
        Tool("onnx2tf", (), "onnx", "tensorflow", ("onnx",), "onnx", to_saved_model),
        Tool("onnx2tf", (), "onnx", "tflite", ("onnx",), "onnx", to_tflite),
    )
    if os.environ.get(VARIABLE)
    else ()
)
