"""The papers' own case: InceptionV3 from TensorFlow to TFLite with weights that lost precision, repaired to zero."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deltann.kinds.convert import PARITY_MAX_REL

from .test_localization import deltann
from .tiny import write_photos

pytestmark = pytest.mark.bisect

KEPT_BITS = 4
"""Of a mantissa of 23."""
CUT = 3
"""Convolutions whose weights are cut: early, in the middle and late."""


def lose_precision(path: Path, out: Path) -> None:
    """Cut the weights of some convolutions of a TFLite file, as a converter with a narrower type would."""
    from tensorflow.lite.python import schema_py_generated as schema
    from tensorflow.lite.tools import flatbuffer_utils

    model = flatbuffer_utils.read_model_with_mutable_tensors(str(path))
    graph = model.subgraphs[0]
    convolutions = [
        one for one in graph.operators
        if model.operatorCodes[one.opcodeIndex].builtinCode == schema.BuiltinOperator.CONV_2D
    ]  # fmt: skip
    mask = np.uint32(0xFFFFFFFF << (23 - KEPT_BITS) & 0xFFFFFFFF)
    for at in np.linspace(2, len(convolutions) - 3, CUT).astype(int):
        buffer = model.buffers[graph.tensors[convolutions[at].inputs[1]].buffer]
        buffer.data = (np.frombuffer(bytes(buffer.data), np.uint32) & mask).view(np.uint8)
    flatbuffer_utils.write_model(model, str(out))


def test_inception_v3_is_repaired_to_zero(tmp_path: Path) -> None:
    write_photos(tmp_path / "photos", 9)
    deltann(tmp_path, "convert", "keras:InceptionV3@random(seed=1)", "--to", "tensorflow", "--out", "source")
    deltann(tmp_path, "convert", "source", "--to", "tflite", "--out", "sound.tflite")
    lose_precision(tmp_path / "sound.tflite", tmp_path / "lossy.tflite")
    common = ("--data", "photos", "--preprocess", "keras_inception_v3", "--no-tvm", "--json")
    repaired = json.loads(deltann(tmp_path, "repair", "source", "lossy.tflite", *common, "--out", "repaired.onnx"))
    # one step may put right several places
    kept = [kind for step in repaired["steps"] if step["kept"] for kind in step["kind"].split(", ")]
    assert kept == ["weights: lost precision"] * CUT
    assert repaired["before"]["error"] > 0.1
    assert repaired["before"]["differing"]
    assert repaired["after"]["differing"] == []
    assert repaired["after"]["error"] < PARITY_MAX_REL
