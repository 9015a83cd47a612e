"""The real MobileNetV2 through the whole house, held against a straight script.

``make test-mobilenet`` runs all 200 photos and levels 0 to 4; with ``DELTANN_MOBILENET=small`` it is 20 photos and
levels 0 and 4. Everything is of one sweep, made once.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pyarrow.parquet
import pytest

from . import straight
from .sweeps import REPOSITORY, SHARED, Swept, sweep

SMALL = os.environ.get("DELTANN_MOBILENET") == "small"
PHOTOS = 20 if SMALL else 200
LEVELS = 2 if SMALL else 5
SPEC = REPOSITORY / "examples" / ("mobilenet_v2_small.yaml" if SMALL else "mobilenet_v2.yaml")
MODELS = SHARED / "data/models/mobilenet_v2"

pytestmark = [
    pytest.mark.mobilenet,
    pytest.mark.skipif(not MODELS.exists(), reason=f"the shared MobileNetV2 is not at {MODELS} (DELTANN_SHARED)"),
]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Swept:
    folder = tmp_path_factory.mktemp("mobilenet")
    return sweep(SPEC, folder / "home", folder / "report")


@pytest.fixture(scope="module")
def labels(swept: Swept) -> dict[str, list[list[int]]]:
    """Top-5 of every variant, in the order of the photos, from the table beside the report."""
    found: dict[str, list[list[int]]] = {}
    for row in pyarrow.parquet.read_table(swept.folder / "outputs.parquet").to_pylist():
        assert row["valid"]
        found.setdefault(row["variant"], []).append(row["labels"])
    return found


def own(swept: Swept, framework: str, recipe: str = "tf") -> dict[str, Any]:
    """The native of a framework in its own engine."""
    (one,) = (
        variant
        for variant in swept.report["variants"]
        if variant["framework"] == framework
        and not variant["chain"]
        and variant["engine"] != "tvm"
        and variant["preprocessing"] == recipe
    )
    return dict(one)


def test_the_sweep_is_done_and_inside_its_gates(swept: Swept) -> None:
    assert swept.exit_code == 0, swept.printed
    assert swept.report["inputs"] == {"n": PHOTOS, "left_out": [], "own": {}}
    assert [gate["ok"] for gate in swept.report["gates"]] == [True]


def test_every_variant_ran(swept: Swept) -> None:
    outcomes = Counter(variant["outcome"] for variant in swept.report["variants"])
    # 16 models in their own engine and at every level, and the natives once more with squashed photos
    assert outcomes == {"ok": 16 * (1 + LEVELS) + 4}


def test_twelve_conversions_keep_the_model(swept: Swept) -> None:
    conversions = swept.report["conversions"]
    assert len({(one["source"], one["target"]) for one in conversions}) == len(conversions) == 12
    for one in conversions:
        assert one["outcome"] == "ok"
        assert one["parity"]["max_rel"] <= 1e-3
        assert one["parity"]["top1_agreement"] == 1.0


def test_natives_agree_on_every_label(swept: Swept, labels: dict[str, list[list[int]]]) -> None:
    natives = [labels[own(swept, framework)["id"]] for framework in ("pytorch", "keras", "tensorflow", "tflite")]
    for other in natives[1:]:
        assert [row[0] for row in other] == [row[0] for row in natives[0]]


@pytest.mark.parametrize(("recipe", "prepare", "known"), [("tf", "centre_crop", 0.86), ("tf_squash", "squash", 0.825)])
def test_labels_are_those_of_a_straight_script(
    swept: Swept, labels: dict[str, list[list[int]]], recipe: str, prepare: str, known: float
) -> None:
    photos = straight.photos(SHARED / "data/images", PHOTOS)
    inputs = [getattr(straight, prepare)(photo) for _, photo, _ in photos]
    truth = [label for _, _, label in photos]
    by_onnx = straight.onnx_labels(MODELS / "mobilenet_v2.onnx", inputs)
    by_tflite = [straight.top5(row) for row in straight.tflite_logits(MODELS / "mobilenet_v2.tflite", inputs)]
    assert labels[own(swept, "tflite", recipe)["id"]] == by_tflite
    for framework in ("pytorch", "keras", "tensorflow"):
        native = own(swept, framework, recipe)
        assert [row[0] for row in labels[native["id"]]] == [row[0] for row in by_onnx]
        assert native["accuracy_top1"] == pytest.approx(straight.accuracy(by_onnx, truth))
    if not SMALL:
        assert straight.accuracy(by_onnx, truth) == known


def test_figures_of_every_pair_are_those_of_plain_loops(swept: Swept, labels: dict[str, list[list[int]]]) -> None:
    settings = swept.report["settings"]
    assert len(swept.report["pairs"]) > 100
    for pair in swept.report["pairs"]:
        a, b = labels[pair["a"]], labels[pair["b"]]
        assert pair["n"] == PHOTOS
        assert pair["top1_disagreement"] == pytest.approx(straight.disagreement(a, b))
        assert pair["topk_jaccard"] == pytest.approx(straight.jaccard(a, b))
        expected = straight.rbo(a, b, settings["rbo"]["p"], settings["rbo"]["depth"])
        assert pair["rbo"] == pytest.approx(expected)
        assert pair["kendall_tau"] == pytest.approx(straight.kendall_tau(a, b))


def test_output_errors_are_those_of_a_straight_script(swept: Swept) -> None:
    """Of the pair that answers most differently: the same TFLite model with cropped and with squashed photos."""
    photos = [photo for _, photo, _ in straight.photos(SHARED / "data/images", PHOTOS)]
    cropped, squashed = (
        straight.tflite_logits(MODELS / "mobilenet_v2.tflite", [prepare(photo) for photo in photos])
        for prepare in (straight.centre_crop, straight.squash)
    )
    sides = (own(swept, "tflite")["id"], own(swept, "tflite", "tf_squash")["id"])
    (pair,) = (pair for pair in swept.report["pairs"] if (pair["a"], pair["b"]) == sides)
    (errors,) = pair["errors"].values()
    assert errors["space"] == "logits"
    for kind, expected in straight.output_errors(cropped, squashed).items():
        assert errors[kind] == pytest.approx(expected, rel=1e-4), kind


def test_formats_of_one_model_answer_with_the_same_logits(swept: Swept) -> None:
    for pair in swept.report["pairs"]:
        if pair["axis"] in ("framework", "conversion"):
            (errors,) = pair["errors"].values()
            assert errors["space"] == "logits"
            assert 0.0 <= errors["abs"]["mean"] <= errors["abs"]["max"] < 1e-3, (pair["a"], pair["b"])


def test_every_kernel_of_every_module_is_scheduled(swept: Swept) -> None:
    compiled = [variant for variant in swept.report["variants"] if variant["opt_level"] is not None]
    assert len(compiled) == 16 * LEVELS
    assert all(variant["kernels"] > 0 for variant in compiled)
    assert {variant["id"]: variant["unscheduled"] for variant in compiled if variant["unscheduled"]} == {}


def test_only_preprocessing_changes_labels(swept: Swept) -> None:
    for pair in swept.report["pairs"]:
        if pair["axis"] != "preprocessing":
            assert pair["top1_disagreement"] == 0.0, (pair["a"], pair["b"])
    if not SMALL:
        worst = max(pair["top1_disagreement"] for pair in swept.report["pairs"] if pair["axis"] == "preprocessing")
        assert worst > 0.05


def test_same_weights_are_recognised_across_formats(swept: Swept) -> None:
    """Of the four natives and of all that was converted from them, TensorFlow's SavedModels among them."""
    weights = own(swept, "pytorch")["weights_fingerprint"]
    assert weights
    found = {(variant["framework"], variant["weights_fingerprint"]) for variant in swept.report["variants"]}
    assert found == {(framework, weights) for framework in ("pytorch", "keras", "tensorflow", "tflite")}
    assert all(pair["same_weights"] is True for pair in swept.report["pairs"])


def test_the_same_sweep_again_computes_nothing(swept: Swept) -> None:
    home = swept.folder.parent / "home"
    before = {path: path.stat().st_mtime_ns for path in (home / "store/results").rglob("*") if path.is_file()}
    again = sweep(SPEC, home, swept.folder.parent / "again")
    after = {path: path.stat().st_mtime_ns for path in (home / "store/results").rglob("*") if path.is_file()}
    assert after == before
    assert again.report == swept.report
