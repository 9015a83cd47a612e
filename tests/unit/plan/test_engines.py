"""Engines with their options as a study asks for them: which variants there are, and what their jobs are told."""

from __future__ import annotations

from typing import Any

import pytest
from made_plan import planned, study

from deltann.errors import SpecError
from deltann.plan.context import VariantPlan
from deltann.spec.models import Study

CHOSEN = {
    "onnxruntime": {"levels": ["disabled", "all"]},
    "openvino": {"precisions": ["default", "fp32"]},
    "torch": {"libraries": ["onednn", "native"]},
}


def names(one: Any, *formats: Any) -> list[str]:
    return [variant.id for variant in planned(one, *formats)[1].variants]


def test_every_engine_that_reads_onnx_takes_every_model_through_one_conversion() -> None:
    plan, context, kinds = planned(study(engines=["own", "onnxruntime", "openvino", "iree"]), "pt2")
    assert [v.id for v in context.variants] == [
        "m/pytorch@torch", "m/pytorch@onnxruntime", "m/pytorch@openvino", "m/pytorch@iree"
    ]  # fmt: skip
    assert (kinds["convert"], kinds["build"], kinds["import"]) == (1, 1, 0)
    (convert,) = (job.index for job in plan.jobs if job.kind == "convert")
    read = {variant.engine: variant.read_job for variant in context.variants}
    assert read == {"torch": None, "onnxruntime": convert, "openvino": convert, "iree": convert}
    runs = {variant.engine: plan.jobs[variant.execute_jobs[0]].needs for variant in context.variants}
    assert runs["openvino"] == {"model": convert}
    assert runs["iree"] == {"module": context.variants[3].compile_job}


def test_an_onnx_model_runs_in_onnx_runtime_once_however_that_is_asked_for() -> None:
    assert names(study(engines=["own", "onnxruntime"]), "onnx") == ["m/onnx@onnxruntime"]
    assert names(study(engines=["onnxruntime"]), "onnx") == ["m/onnx@onnxruntime"]


def test_options_are_axes_whose_first_value_is_the_reference() -> None:
    one = study(2, engines=["own", "openvino"], engine_options=CHOSEN)
    plan, context, _ = planned(one, "pt2", "onnx")
    assert [v.id for v in context.variants] == [
        "m/pytorch@torch onednn", "m/pytorch@torch native", "m/pytorch@openvino default", "m/pytorch@openvino fp32",
        "m/onnx@onnxruntime disabled", "m/onnx@onnxruntime all", "m/onnx@openvino default", "m/onnx@openvino fp32",
    ]  # fmt: skip
    facts = {v.id: (v.opt_level, v.precision, v.library) for v in context.variants}
    assert facts["m/onnx@onnxruntime all"] == (3, "fp32", "default")
    assert facts["m/pytorch@torch native"] == (None, "fp32", "native")
    assert facts["m/onnx@openvino default"] == (None, "default", "default")
    asked = {v.id: plan.jobs[v.execute_jobs[0]].params.get("options") for v in context.variants}
    assert asked["m/onnx@onnxruntime all"] == {"level": "all", "precision": None, "library": None}
    assert asked["m/onnx@openvino fp32"] == {"level": None, "precision": "fp32", "library": None}
    assert asked["m/onnx@openvino default"] is None  # nothing is asked, so nothing is said
    timed = [plan.jobs[v.time_job or 0].params.get("options") for v in context.variants]
    assert timed == list(asked.values())


def test_a_study_with_options_reads_back_as_it_was_written() -> None:
    one = study(engines=["own", "openvino"], engine_options=CHOSEN)
    assert Study.model_validate(one.model_dump(mode="json", by_alias=True)) == one


def test_a_compilers_level_is_of_the_module_and_not_of_its_execution() -> None:
    one = study(engines=["iree"], engine_options={"iree": {"levels": ["O0", "O3"]}})
    plan, context, kinds = planned(one, "onnx")
    assert [(v.id, v.opt_level) for v in context.variants] == [("m/onnx@iree O0", 0), ("m/onnx@iree O3", 3)]
    built = [plan.jobs[v.compile_job or 0].params for v in context.variants]
    assert [(job["compiler"], job["level"]) for job in built] == [("iree", "O0"), ("iree", "O3")]
    assert kinds["build"] == kinds["execute"] == 2
    assert not any("options" in plan.jobs[v.execute_jobs[0]].params for v in context.variants)


def test_a_converted_model_is_held_against_the_same_engine_before_the_conversion() -> None:
    one = study(
        engines=["own", "openvino"],
        engine_options={"torch": {"libraries": ["onednn", "native"]}, "tflite": {"libraries": ["xnnpack", "builtin"]}},
        conversions={"pairs": [["pytorch", "tflite"]]},
    )
    _, context, _ = planned(one, "pt2")
    parents: dict[str, str | None] = {v.id: v.parent for v in context.variants if v.conversion}
    made = "m/pytorch → onnx → tflite"
    assert parents == {
        f"{made}@tflite xnnpack": "m/pytorch@torch onednn",  # the first of each
        f"{made}@tflite builtin": None,  # PyTorch has nothing like it
        f"{made}@openvino": "m/pytorch@openvino",
    }


def test_more_preprocessing_is_for_own_engines_alone() -> None:
    _, context, _ = planned(study(preprocessing=["tf", "caffe"], engines=["own", "openvino"]), "pt2")
    assert [(v.engine, v.preprocessing) for v in context.variants] == [
        ("torch", "tf"), ("torch", "caffe"), ("openvino", "tf")
    ]  # fmt: skip


def test_an_engine_that_reads_none_of_the_models_is_no_study() -> None:
    with pytest.raises(SpecError, match="None of the engines torch runs a model of m: add own"):
        planned(study(engines=["torch"]), "keras")


@pytest.mark.parametrize("more", [{}, {"engines": ["own"]}, {"conversions": {"pairs": "all"}}])
def test_a_study_that_chooses_nothing_says_nothing_of_it(more: dict[str, Any]) -> None:
    one = study(**more)
    plan, context, _ = planned(one, "pt2")
    assert "engine_options" not in one.model_dump(mode="json")
    assert not any("options" in job.params for job in plan.jobs)
    usual: set[tuple[str, str]] = {_chosen(variant) for variant in context.variants}
    assert usual == {("fp32", "default")}


def _chosen(variant: VariantPlan) -> tuple[str, str]:
    return variant.precision, variant.library
