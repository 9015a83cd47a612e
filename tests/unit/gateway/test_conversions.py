from __future__ import annotations

from deltann_gateway.conversions import conversion_of

from deltann.artifact import ArtifactRef
from deltann.job import Job, JobError, JobResult, Plan
from deltann.outcome import Outcome

MODEL = ArtifactRef(digest="ab" * 32, size=1, name="m.tflite")
PLAN = Plan(
    jobs=tuple(Job(index=i, kind=kind, params={}, queue="converter", job_id=str(i)) for i, kind in enumerate("ab"))
)


def result(kind: str, outcome: Outcome = Outcome.OK, **more: object) -> JobResult:
    return JobResult.model_validate({"kind": kind, "result_key": kind, "outcome": outcome, **more})


def test_a_conversion_runs_until_its_last_job_has_a_model() -> None:
    assert conversion_of("c", PLAN, {}, ended=False).state == "running"
    assert conversion_of("c", PLAN, {0: result("a", artifacts={"model": MODEL})}, ended=False).state == "running"
    whole = {0: result("a"), 1: result("b", artifacts={"model": MODEL})}
    found = conversion_of("c", PLAN, whole, ended=True)
    assert (found.state, found.model, found.outcome) == ("succeeded", MODEL, "ok")


def test_a_failed_step_gives_its_reason_before_the_sweep_has_ended() -> None:
    error = JobError(stage="export", type="ValueError", message="no such operator")
    found = conversion_of("c", PLAN, {0: result("a", Outcome.CONVERT_FAILED, error=error)}, ended=False)
    assert (found.state, found.outcome, found.error) == ("failed", "convert_failed", "no such operator")
    assert found.model is None


def test_an_end_without_a_model_is_a_failure_and_keeps_its_reason() -> None:
    found = conversion_of("c", PLAN, {}, ended=True, error="The store is full.")
    assert (found.state, found.error) == ("failed", "The store is full.")
