"""Which conversion steps a plan looks into, and what each of these jobs reads."""

from __future__ import annotations

from made_plan import planned, study

PAIRS = {"pairs": [["pytorch", "keras"], ["pytorch", "tflite"]]}


def test_every_step_is_looked_into_once_against_what_it_started_from() -> None:
    plan, context, kinds = planned(study(conversions=PAIRS), "pt2")
    steps = {index for one in context.conversions for index in one.jobs}
    assert {one.step for one in context.localizations} == steps
    assert kinds["localize"] == len(steps) == 3  # pytorch → onnx once, and onnx to each
    for one in context.localizations:
        job, converting = plan.jobs[one.job], plan.jobs[one.step]
        assert job.needs["target"] == one.step
        assert job.needs.get("source") == converting.needs.get("model")
        assert job.sources.get("source") == converting.sources.get("model")
        assert (job.params["source"], job.params["target"]) == (
            converting.params["source"], converting.params["target"],
        )  # fmt: skip
        assert job.params["doubted"] is True
        assert {role for role in job.sources if role.startswith("shard")} == {
            f"shard{place}" for place in range(job.params["shards"])
        }


def test_a_study_says_over_how_many_inputs_and_whether_at_all() -> None:
    _, _, kinds = planned(study(conversions=PAIRS, localize=None), "pt2")
    assert kinds["localize"] == 0
    plan, context, _ = planned(study(conversions=PAIRS, localize={"inputs": 2, "always": True}), "pt2")
    params = [plan.jobs[one.job].params for one in context.localizations]
    assert {(one["limit"], one["doubted"]) for one in params} == {(2, False)}


def test_without_conversions_there_is_nothing_to_look_into() -> None:
    _, context, kinds = planned(study(), "pt2")
    assert (context.localizations, kinds["localize"]) == ((), 0)
