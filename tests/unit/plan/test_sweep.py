from __future__ import annotations

from collections import Counter

import pytest
from made_plan import FORMATS, planned, ref, results, study

from deltann.errors import DataError, ModelError
from deltann.model import Format
from deltann.plan import plan_sweep, sweep_id
from deltann.plan.context import SweepContext


def test_one_native_becomes_the_twelve_conversions() -> None:
    plan, context, kinds = planned(study(conversions={"pairs": "all"}), "pt2")
    pairs = {(one.source, one.target) for one in context.conversions}
    assert len(context.conversions) == len(pairs) == 12
    # pytorch → onnx, to three; each of these → onnx, to three others: equal steps are one job. The compiler reads the
    # other two Keras models and the other two SavedModels through ONNX as well.
    assert kinds["convert"] == 1 + 3 + 3 + 9 + 4
    keras_tflite = next(one for one in context.conversions if (one.source, one.target) == ("keras", "tflite"))
    assert keras_tflite.chain == ("pytorch", "onnx", "keras", "onnx", "tflite")
    assert [plan.jobs[job].params["target"] for job in keras_tflite.jobs] == ["onnx", "tflite"]
    assert keras_tflite.source_variant_job is not None


def test_four_natives_convert_each_from_its_own_file() -> None:
    plan, context, kinds = planned(study(4, conversions={"pairs": "all"}), *FORMATS[:4])
    assert kinds["convert"] == 4 + 12 + 6  # six conversions end in Keras or a SavedModel: the compiler reads their ONNX
    for one in context.conversions:
        assert one.source_variant_job is None
        first = plan.jobs[one.jobs[0]]
        assert first.sources["model"] == ref(1 + FORMATS.index(_format_of(context, one.native)))
    # 16 models: natives and conversions, in their own engine and at three levels
    assert len(context.variants) == 16 * 4
    assert kinds["import"] == 16
    assert kinds["compile"] == 48
    assert kinds["execute"] == kinds["time"] == 64
    assert kinds["analyze"] == 1


def _format_of(context: SweepContext, native: str) -> Format:
    return next(one.info.format for one in context.natives if one.id == native)


def test_the_compiler_gets_keras_and_saved_models_through_the_onnx_of_the_conversion() -> None:
    plan, _, kinds = planned(study(2, conversions={"pairs": [["keras", "tflite"]]}), "keras", "savedmodel")
    imports = [job for job in plan.jobs if job.kind == "import"]
    for job in imports:
        made = plan.jobs[job.needs["model"]]
        assert made.params["target"] in ("onnx", "tflite")
    assert kinds["convert"] == 3  # keras → onnx (shared), onnx → tflite, savedmodel → onnx


def test_routes_normalising_and_tools_are_a_matrix() -> None:
    one = study(
        conversions={"pairs": [["keras", "tflite"]], "routes": ["onnx", "direct"], "normalise": [True, False]},
        engines=["own"],
    )
    _, context, _ = planned(one, "keras")
    assert [(conversion.normalise, len(conversion.jobs)) for conversion in context.conversions] == [
        (True, 2),
        (False, 2),
        (True, 1),
    ]
    assert len({conversion.id for conversion in context.conversions}) == 3


def test_a_chain_is_made_as_it_is_written() -> None:
    one = study(conversions={"chains": [["keras", "tflite", "onnx", "keras"]]}, engines=["own"])
    plan, context, _ = planned(one, "keras")
    (chain,) = context.conversions
    assert [plan.jobs[job].params["target"] for job in chain.jobs] == ["tflite", "onnx", "keras"]
    assert (chain.source, chain.target) == ("keras", "keras")


def test_more_preprocessing_is_for_natives_in_their_own_engine_unless_asked() -> None:
    models = [{"name": "m", "natives": [{"source": "m0", "file": ref(1)}], "preprocessing": ["tf", "tf_squash"]}]
    one = study(models=models, conversions={"pairs": [["pytorch", "onnx"]]}, compile={"levels": [0]})
    _, context, _ = planned(one, "pt2")
    assert Counter(v.preprocessing for v in context.variants) == {"tf": 4, "tf_squash": 1}
    every = one.model_copy(update={"preprocessing_on": "all"})
    _, context, _ = planned(every, "pt2")
    assert Counter(v.preprocessing for v in context.variants) == {"tf": 4, "tf_squash": 4}


def test_natives_that_were_trained_apart_are_fed_each_in_its_way_and_compared_all_the_same() -> None:
    natives = [
        {"source": "m0", "file": ref(1), "preprocessing": "torchvision"},
        {"source": "m1", "file": ref(2), "preprocessing": "tf"},
    ]
    models = [{"name": "m", "natives": natives, "preprocessing": ["pixels", "tf_squash"]}]
    plan, context, _ = planned(study(models=models, engines=["own"]), "pt2", "keras")
    assert Counter(variant.preprocessing for variant in context.variants) == {"own": 2, "tf_squash": 2}
    fed = [plan.jobs[v.execute_jobs[0]].params["recipe"] for v in context.variants if v.preprocessing == "own"]
    means = [recipe["steps"][-1]["mean"] for recipe in fed]
    assert means == [[123.675, 116.28, 103.53], [127.5]]


def test_a_parent_is_the_same_build_one_conversion_earlier() -> None:
    _, context, _ = planned(study(conversions={"pairs": "all"}), "pt2")
    by_id = {variant.id: variant for variant in context.variants}
    for variant in context.variants:
        if variant.conversion is None:
            assert variant.parent is None
            continue
        parent = by_id[variant.parent or ""]
        conversion = next(one for one in context.conversions if one.id == variant.conversion)
        assert parent.framework == conversion.source
        assert parent.opt_level == variant.opt_level


def test_single_passes_are_in_every_compile_job_and_in_the_names_of_what_they_make() -> None:
    plan, context, kinds = planned(
        study(compile={"levels": [0, 4], "disable": ["FuseOps"], "enable": ["LLVMFastMath"]}), "onnx"
    )
    compiled = [variant for variant in context.variants if variant.engine == "tvm"]
    assert [variant.id.partition("@")[2] for variant in compiled] == [
        "tvm O0 +LLVMFastMath -FuseOps",
        "tvm O4 +LLVMFastMath -FuseOps",
    ]
    for variant in compiled:
        params = plan.jobs[variant.compile_job or 0].params
        assert (params["enable"], params["disable"]) == (["LLVMFastMath"], ["FuseOps"])
    assert kinds["compile"] == 2


def test_precisions_and_schedules_are_axes_of_their_own_at_every_level() -> None:
    wanted = {"levels": [0, 3], "precisions": ["fp32", "fp16"], "schedules": ["standard", "naive"]}
    _, context, kinds = planned(study(engines=["tvm"], compile=wanted), "onnx")
    made = {(variant.opt_level, variant.schedule, variant.precision) for variant in context.variants}
    assert len(made) == len(context.variants) == kinds["compile"] == 8
    assert (3, "naive", "fp16") in made


def test_inputs_are_run_in_shards() -> None:
    plan, context, _ = planned(study(engines=["own"]), "onnx", inputs=1201)
    assert [len(variant.execute_jobs) for variant in context.variants] == [3]
    spans = [(plan.jobs[i].params["start"], plan.jobs[i].params["stop"]) for i in context.variants[0].execute_jobs]
    assert spans == [(0, 500), (500, 1000), (1000, 1201)]
    assert not plan.jobs[0].params["keep_outputs"]  # more than 1,000 inputs: labels alone


def test_timings_come_last_and_only_of_what_ran() -> None:
    plan, context, _ = planned(study(), "onnx")
    for variant in context.variants:
        assert variant.time_job is not None
        job = plan.jobs[variant.time_job]
        assert job.phase == 1
        assert job.needs["outputs"] == variant.execute_jobs[0]


def test_the_analysis_waits_for_everything() -> None:
    plan, _, _ = planned(study(conversions={"pairs": "all"}), "pt2")
    assert plan.jobs[-1].kind == "analyze"
    assert plan.jobs[-1].after == tuple(range(len(plan.jobs) - 1))


def test_zero_inputs_and_equal_natives_are_refused() -> None:
    with pytest.raises(DataError, match="no usable input"):
        planned(study(), "onnx", inputs=0)
    twice = study(2)
    found = results(twice, ("onnx", "onnx"))
    found[1] = found[1].model_copy(update={"artifacts": found[0].artifacts})
    with pytest.raises(ModelError, match="same file"):
        plan_sweep(twice, found)


def test_the_id_is_of_everything_the_study_says() -> None:
    one = study()
    assert sweep_id(one) == sweep_id(study())
    assert sweep_id(one) != sweep_id(one.model_copy(update={"threads": 2}))
    assert sweep_id(one).startswith("s-")
