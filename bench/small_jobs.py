"""A service whose jobs do nothing, to measure what DeltaNN itself costs: for ``bench/throughput.py`` and its
workers."""

from __future__ import annotations

from collections.abc import Mapping

from deltann.base import Data
from deltann.digest import digest_value
from deltann.job import Job, JobResult, Plan
from deltann.outcome import Outcome
from deltann.service import JobContext, Kind, Produced, Service
from deltann.spec.models import Study

QUEUE = "small"


class Number(Data):
    value: int


def nothing(params: Number, context: JobContext) -> Produced:
    return Produced(data={"value": params.value})


SERVICE = Service(
    QUEUE, (Kind("nothing", Number, "small_jobs:nothing", Outcome.RUN_FAILED, affinity=lambda params: "warm"),)
)


class SmallPlanner:
    """Plans as many jobs as the study's data limit says, numbered on from the number that ends its name."""

    def sweep_id(self, study: Study) -> str:
        return f"{study.name}-{study.data.limit}"

    def resolve(self, study: Study) -> Plan:
        return plan_of(1)

    def sweep(self, study: Study, results: Mapping[int, JobResult]) -> Plan:
        return plan_of(study.data.limit or 1, int(study.name.rpartition("-")[2]))


def plan_of(count: int, first: int = 0) -> Plan:
    """Jobs that depend on nothing, numbered from ``first`` on."""
    return Plan(
        jobs=tuple(
            Job(
                index=index,
                kind="nothing",
                params={"value": first + index},
                queue=QUEUE,
                job_id=digest_value(["nothing", first + index]),
                label=f"nothing {first + index}",
            )
            for index in range(count)
        )
    )


def study_of(count: int, first: int) -> Study:
    return Study.model_validate(
        {
            "schema": "deltann.study/1",
            "name": f"small-{first}",
            "models": [{"name": "m", "natives": [{"source": "none"}], "preprocessing": ["tf"]}],
            "data": {"source": "none:none", "limit": count},
        }
    )
