"""Means over instances, and R of conversions from them."""

from __future__ import annotations

from typing import Any

import pytest
from deltann_analyzer.attacks.means import means, robustness

from deltann.report.attacks import AttackMeasures


def row(model: str, before: float, after: float, **more: Any) -> AttackMeasures:
    facts = {
        "attack": "fgsm-0.1", "model": model, "framework": "keras", "instance": "keras-1", "way": "→ onnx@onnxruntime",
        "n": 10, "left_out": 0, "misclassification": 0.1, "error_abs": 1e-6,
    }  # fmt: skip
    return AttackMeasures.model_validate({**facts, "success_before": before, "success_after": after, **more})


def test_means_over_instances() -> None:
    (one,) = means([row("a", 0.4, 0.5), row("a", 0.6, 0.7, instance="keras-2"), row("a", 0, 0, n=0)])
    assert (one.instances, one.success_before, one.success_after) == (2, 0.5, 0.6)
    assert one.std_after == pytest.approx(0.1414, abs=1e-4)


def test_r_is_of_mean_rates_over_the_models_of_one_way() -> None:
    rows = [row("a", 0.5, 0.5), row("b", 0.5, 0.6), row("b", 0.5, 0.8, instance="keras-2"), row("c", 0.5, 0.4)]
    other = [row("a", 0.5, 0.1, way="→ tflite@tflite"), row("b", 0.0, 1.0, way="given to pytorch", across=True)]
    found = {(one.model, one.way): one.r for one in robustness(means([*rows, *other]))}
    assert found == pytest.approx(
        {
            ("a", "→ onnx@onnxruntime"): 0.0,
            ("b", "→ onnx@onnxruntime"): 1.0,
            ("c", "→ onnx@onnxruntime"): 0.5,
            ("a", "→ tflite@tflite"): 0.0,  # alone: a constant column
        }
    )


def test_identity_has_r_nought_beside_changed_models() -> None:
    found = {one.model: one.r for one in robustness(means([row("same", 0.3, 0.3), row("other", 0.3, 0.2)]))}
    assert found == {"same": 0.0, "other": 1.0}
