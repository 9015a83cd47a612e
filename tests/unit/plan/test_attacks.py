"""Plans of studies that attack: after the native's labels, and before everything that is given the set."""

from __future__ import annotations

from typing import Any

import pytest
from made_plan import ref
from test_training import results, study

from deltann.errors import SpecError
from deltann.job import Plan
from deltann.kinds.attack import AttackParams
from deltann.kinds.execute import ExecuteParams
from deltann.plan import plan_sweep
from deltann.plan.context import SweepContext

FGSM = {"kind": "fgsm", "epsilon": 0.1}


def planned(*attacks: dict[str, Any], **more: Any) -> tuple[Plan, SweepContext]:
    one = study(attacks=list(attacks), **more)
    found = results(one)
    for index, result in found.items():
        if result.kind == "resolve_data":
            extra = {"manifest": ref(900 + index), "vocabulary": ref(950 + index)}
            found[index] = result.model_copy(update={"artifacts": extra})
    plan = plan_sweep(one, found)
    return plan, SweepContext.model_validate(plan.context)


def test_every_native_is_attacked_after_its_labels_and_its_variants_are_given_the_set() -> None:
    plan, context = planned(FGSM, {"kind": "genetic"})
    assert [(one.attack, one.native) for one in context.attacks] == [
        *[("fgsm-0.1", f"digits/{framework}-{n}") for n in (1, 2) for framework in ("keras", "pytorch")],
        *[("genetic-20", f"words/{framework}-{n}") for n in (1, 2) for framework in ("keras", "pytorch")],
    ]
    variants = {one.id: one for one in context.variants}
    first = context.attacks[0]
    job = plan.jobs[first.job]
    assert AttackParams.model_validate(job.params).answers == 1
    assert job.needs == {"outputs0": variants[first.original].execute_jobs[0]}
    assert set(job.sources) == {"model", "manifest", "vocabulary"}
    assert set(first.runs) == {
        "digits/keras-1@keras", "digits/keras-1 → onnx@onnxruntime", "digits/pytorch-1@torch",
    }  # fmt: skip
    for identity, index in first.runs.items():
        run, usual = plan.jobs[index], plan.jobs[variants[identity].execute_jobs[0]]
        assert run.needs == {**usual.needs, "shard": first.job}
        assert "shard" not in run.sources
        params = ExecuteParams.model_validate(run.params)
        assert (params.whole, params.data_kind, params.recipe.steps) == (True, "tensors", ())
    (analysis,) = [job for job in plan.jobs if job.kind == "analyze"]
    assert {index for one in context.attacks for index in (one.job, *one.runs.values())} <= set(analysis.after)
    words = ExecuteParams.model_validate(plan.jobs[context.attacks[-1].runs["words/pytorch-2@torch"]].params)
    assert words.data_kind == "tokens"


def test_no_attack_no_job() -> None:
    plan, context = planned()
    assert context.attacks == ()
    assert "attack" not in {job.kind for job in plan.jobs}
    assert all("whole" not in job.params for job in plan.jobs)  # results of earlier sweeps keep their keys


def test_a_set_does_not_depend_on_what_else_is_studied() -> None:
    """So it is used again when a conversion is added."""
    one, some = planned(FGSM)
    two, more = planned(FGSM, conversions={"pairs": [["keras", "onnx"], ["pytorch", "onnx"], ["keras", "tflite"]]})
    assert one.jobs[some.attacks[0].job].job_id == two.jobs[more.attacks[0].job].job_id


def test_without_its_own_engine_a_native_cannot_be_attacked() -> None:
    with pytest.raises(SpecError, match="Add own to engines"):
        planned(FGSM, engines=["onnxruntime"])
