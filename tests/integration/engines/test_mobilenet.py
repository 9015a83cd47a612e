"""The five files of MobileNetV2's one set of weights, each in its own engine, against the photos."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest
import torchvision  # noqa: F401  (has to come before TensorFlow, which the engines import)
from deltann_engines.base import load
from deltann_engines.describe import describe
from deltann_engines.parity import parity

from deltann.align import align, top_k
from deltann.errors import ModelError
from deltann.model import ENGINE_OF, Format
from deltann.preprocess.apply import apply, decode, to_model_input
from deltann.preprocess.recipes import resolve_recipe

SHARED = Path(os.environ.get("DELTANN_SHARED", Path(__file__).resolve().parents[4] / "shared"))
MODELS = SHARED / "data/models/mobilenet_v2"
FILES: dict[Format, str] = {
    "pt2": "mobilenet_v2.pt2",
    "torchscript": "mobilenet_v2.torchscript.pt",
    "onnx": "mobilenet_v2.onnx",
    "tflite": "mobilenet_v2.tflite",
    "keras": "mobilenet_v2.keras",
    "savedmodel": "saved_model",
}
shared = pytest.mark.skipif(not MODELS.exists(), reason=f"the shared MobileNetV2 is not at {MODELS} (DELTANN_SHARED)")


@shared
@pytest.mark.parametrize("fmt", [*FILES])
def test_a_native_is_described_and_answers_as_the_others(fmt: Format) -> None:
    reference = describe(MODELS / FILES["onnx"], "onnx")
    info = describe(MODELS / FILES[fmt], fmt)
    assert info.input.layout == ("NCHW" if fmt in ("pt2", "torchscript", "onnx") else "NHWC")
    assert info.image_size == (224, 224)
    assert (info.output_kind, info.classes, info.class_offset) == ("logits", 1001, 1)
    assert info.weights_fingerprint == reference.weights_fingerprint
    found = parity(MODELS / FILES["onnx"], reference, MODELS / FILES[fmt], info, n=3, seed=1)
    assert found.n == 3
    assert found.top1_agreement == 1.0
    assert found.max_rel is not None
    assert found.max_rel < 2e-5


@shared
@pytest.mark.parametrize(("recipe", "accuracy"), [("tf", 0.86), ("tf_squash", 0.825)])
def test_top1_on_the_photos_is_the_known_one(recipe: str, accuracy: float) -> None:
    info = describe(MODELS / FILES["onnx"], "onnx")
    steps = resolve_recipe(recipe, info)
    with (SHARED / "data/images/labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with load(ENGINE_OF["onnx"], MODELS / FILES["onnx"], info, 2) as session:
        photos = (decode((SHARED / "data/images" / row["file"]).read_bytes()) for row in rows)
        raw = np.concatenate([session.run(to_model_input(apply(steps, photo), info.input)) for photo in photos])
    labels, _ = top_k(align(raw, info)[0], 1)
    assert (labels[:, 0] == [int(row["label"]) for row in rows]).mean() == accuracy


@shared
def test_int8_softmax_is_told_by_its_scale() -> None:
    info = describe(MODELS / "mobilenet_v2_int8.tflite", "tflite")
    assert info.output_kind == "probabilities"
    assert info.input.dtype == "uint8"
    assert info.input.quantisation is not None
    assert info.weights_fingerprint != describe(MODELS / FILES["tflite"], "tflite").weights_fingerprint


@shared
@pytest.mark.parametrize("fmt", ["pt2", "torchscript", "onnx", "tflite", "keras"])
def test_a_truncated_model_is_one_paragraph(fmt: Format, tmp_path: Path) -> None:
    whole = (MODELS / FILES[fmt]).read_bytes()
    cut = tmp_path / FILES[fmt]
    cut.write_bytes(whole[: len(whole) // 3])
    with pytest.raises(ModelError, match="cannot be read") as caught:
        describe(cut, fmt)
    assert cut.name in str(caught.value)
    assert "\n" not in str(caught.value)
