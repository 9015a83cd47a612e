from __future__ import annotations

import pytest
from made_plan import planned, study

from deltann.kinds.bisect import BisectParams

COMPILE = {"levels": [1, 0, 4], "precisions": ["fp32", "fp16"], "disable": ["FuseOps"]}


def test_each_level_is_held_against_the_first_and_each_precision_at_its_level() -> None:
    plan, context, kinds = planned(study(compare={"bisect": True}, compile=COMPILE), "onnx")
    held = {(one.opt_level, one.precision): one for one in context.variants if one.engine == "tvm"}
    by_id = {one.id: one for one in context.variants}
    against = {key: by_id[one.against] for key, one in held.items() if one.against}
    assert {key: (one.opt_level, one.precision) for key, one in against.items()} == {
        (0, "fp32"): (1, "fp32"),
        (4, "fp32"): (1, "fp32"),
        (1, "fp16"): (1, "fp32"),
        (0, "fp16"): (0, "fp32"),
        (4, "fp16"): (4, "fp32"),
    }
    assert kinds["bisect"] == 5
    for key, other in against.items():
        job = plan.jobs[held[key].bisect_job or 0]
        params = BisectParams.model_validate(job.params)
        assert (params.b.level, params.b.precision, params.b.disable) == (*key, ("FuseOps",))
        assert (params.a.level, params.a.precision) == (other.opt_level, other.precision)
        assert job.needs == {"answers_a": other.execute_jobs[0], "answers_b": held[key].execute_jobs[0]}
        assert job.sources.keys() == {"model", "shard0"}
        assert job.index in plan.jobs[-1].after, "the report waits for it"


def test_a_model_that_is_no_onnx_is_bisected_as_its_onnx() -> None:
    plan, context, kinds = planned(study(compare={"bisect": True}, compile={"levels": [0, 4]}), "pt2")
    assert (kinds["bisect"], kinds["convert"]) == (1, 1)
    (job,) = (plan.jobs[one.bisect_job] for one in context.variants if one.bisect_job is not None)
    assert plan.jobs[job.needs["model"]].params["target"] == "onnx"
    assert job.params["info"] is None


@pytest.mark.parametrize(
    "asked",
    [
        {"compile": COMPILE},
        {"compare": {"bisect": True}, "compile": {"levels": [2]}},
        {"compare": {"bisect": True}, "engines": ["own"]},
    ],
)
def test_where_it_is_not_asked_or_there_is_no_pair_nothing_is_planned(asked: dict[str, object]) -> None:
    _, context, kinds = planned(study(**asked), "pt2")
    assert (kinds["bisect"], kinds["convert"]) == (0, 0)
    assert all(one.bisect_job is None and one.against is None for one in context.variants)


def test_a_study_without_it_stays_what_it_was() -> None:
    assert "bisect" not in study().model_dump(mode="json")["compare"]
    assert study(compare={"bisect": True}).model_dump(mode="json")["compare"]["bisect"] is True
