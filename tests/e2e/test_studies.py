"""Whole studies of large models: ``make test-studies``. Weights are random, with batch-norm statistics of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from .sweeps import REPOSITORY, sweep

pytestmark = pytest.mark.studies


def test_a_silent_fault_is_put_to_the_step_that_made_it(tmp_path: Path) -> None:
    """Keras ResNet101V2 to TFLite to ONNX and back: onnx2keras pads the wrong axes and reports no error."""
    swept = sweep(REPOSITORY / "examples/silent_fault.yaml", tmp_path / "home", tmp_path / "report")
    (conversion,) = (one for one in swept.report["conversions"] if len(one["steps"]) == 3)
    assert [step["verdict"] for step in conversion["steps"]] == ["clear", "clear", "guilty"]
    assert conversion["silent_fault"] == 2
    before, after = conversion["steps"][1]["parity"], conversion["steps"][2]["parity"]
    assert before["max_rel"] < 1e-3 < 0.01 < after["max_rel"]
    faults = [finding for finding in swept.report["findings"] if finding["kind"] == "silent_conversion_fault"]
    assert [fault["conversions"] for fault in faults] == [[conversion["id"]]]
    assert "step 3 of 3" in faults[0]["text"]
    assert "onnx2keras" in faults[0]["text"]
    (fault,) = swept.report["faults"]  # of the steps that are clear nothing is said
    assert (fault["conversions"], fault["step"]) == ([conversion["id"]], "onnx → keras")
    (suspect,) = fault["suspects"]
    assert (suspect["op_type"], suspect["kind"], suspect["sure"]) == ("Pad", "pads: other values", True)
    assert suspect["source"].endswith("conv1_pad_1/Pad")
    assert f"Its node {suspect['node']} (Pad) is wrong by itself: pads: other values." in faults[0]["text"]


def test_the_papers_study_runs_through_when_made_small(tmp_path: Path) -> None:
    """Four architectures, natives of PyTorch and Keras: every conversion, module and run ends well."""
    swept = sweep(REPOSITORY / "examples/deltann_smoke.yaml", tmp_path / "home", tmp_path / "report")
    report = swept.report
    assert swept.exit_code == 0
    assert {variant["model"] for variant in report["variants"]} == {
        "mobilenet_v2",
        "resnet101",
        "inception_v3",
        "densenet121",
    }
    assert {(one["id"], one["outcome"]) for one in report["conversions"] if one["outcome"] != "ok"} == set()
    assert {(one["id"], one["outcome"]) for one in report["variants"] if one["outcome"] != "ok"} == set()
    assert all(variant["time_ms"]["median"] > 0 for variant in report["variants"])
    assert {variant["opt_level"] for variant in report["variants"] if variant["engine"] == "tvm"} == {0, 4}
    assert {variant["framework"] for variant in report["variants"]} >= {"pytorch", "keras", "tflite"}
    compiled = [pair for pair in report["pairs"] if pair["axis"] == "optimization"]
    assert compiled
    assert all(pair["n"] == 4 for pair in compiled)
