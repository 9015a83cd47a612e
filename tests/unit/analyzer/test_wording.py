from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from deltann_analyzer import wording
from deltann_analyzer.disagreement import disagreement
from deltann_analyzer.naming import variant_names

from deltann.model import ENGINE_OF
from deltann.plan.context import ConversionPlan, VariantPlan
from deltann.report.models import Inputs


def variant(id: str, framework: str = "pytorch", **more: Any) -> VariantPlan:
    base = {
        "id": id, "model": "m", "instance": "pytorch", "source": "pytorch", "framework": framework,
        "engine": ENGINE_OF[framework], "preprocessing": "p", "pool": "cpu", "execute_jobs": (),
    }  # fmt: skip
    return VariantPlan.model_validate(base | more)


def test_names_say_only_what_tells_variants_apart() -> None:
    made = ConversionPlan(id="c", model="m", native="m/pytorch", chain=("pytorch", "onnx", "keras"), source="pytorch",
                          target="keras", jobs=())  # fmt: skip
    variants = [
        variant("a"),
        variant("b", preprocessing="raw"),
        variant("c", engine="tvm", opt_level=4, target="host"),
        variant("d", "keras", conversion="c"),
    ]
    assert variant_names(variants, [made]) == {
        "a": "pytorch · torch",
        "b": "pytorch · torch · raw",
        "c": "pytorch · tvm level 4",
        "d": "pytorch → onnx → keras · keras",
    }


def test_levels_are_called_as_their_engine_does_and_choices_are_told_where_there_are_several() -> None:
    variants = [
        variant("a", library="onednn"), variant("b", library="native"),
        variant("c", engine="onnxruntime", opt_level=1),
        variant("d", engine="openvino", precision="default"), variant("e", engine="openvino"),
        variant("f", engine="iree", opt_level=2),
    ]  # fmt: skip
    assert list(variant_names(variants, []).values()) == [
        "pytorch · torch · onednn", "pytorch · torch · native", "pytorch · onnxruntime basic",
        "pytorch · openvino · default", "pytorch · openvino · fp32", "pytorch · iree O2",
    ]  # fmt: skip


def test_variants_that_would_share_a_name_keep_their_ids() -> None:
    assert variant_names([variant("a"), variant("b")], []) == {"a": "a", "b": "b"}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0 %"), (1.0, "100 %"), (0.0004, "< 0.1 %"), (0.9996, "> 99.9 %"), (0.1125, "11.2 %"), (None, "–")],
)
def test_share_never_rounds_a_difference_away(value: float | None, text: str) -> None:
    assert wording.share(value) == text


@pytest.mark.parametrize(("value", "text"), [(59.94, "59.9 s"), (61, "1 min 1 s"), (3_720, "1 h 2 min"), (None, "–")])
def test_seconds(value: float | None, text: str) -> None:
    assert wording.seconds(value) == text


def test_disagreement_counts_only_inputs_valid_on_both_sides() -> None:
    labels = np.array([[1, 2, 3, 4], [1, 2, 9, 9], [5, 5, 5, 5]], np.int32)
    valid = np.array([[1, 1, 1, 1], [1, 1, 1, 0], [0, 0, 0, 0]], bool)
    shares = disagreement(labels, valid)
    assert shares[0, 1] == shares[1, 0] == pytest.approx(1 / 3)
    assert np.isnan(shares[2]).all()


@pytest.mark.parametrize(("value", "told"), [(-12.4, "-12 %"), (3.21, "+3.2 %"), (-0.04, "+0.0 %"), (None, "–")])
def test_a_change_has_its_sign_and_nothing_is_never_less_than_nothing(value: float | None, told: str) -> None:
    assert wording.change(value) == told


def test_inputs_of_single_models_are_told_beside_those_of_all() -> None:
    assert wording.given(Inputs(n=40, left_out=[])) == "40 inputs"
    assert wording.given(Inputs(n=40, own={"lstm": 60, "gru": 50}, left_out=[])) == "40 inputs (lstm: 60, gru: 50)"
