"""The first plan of a sweep: models and data made into stored, described objects."""

from __future__ import annotations

from dataclasses import dataclass

from deltann.digest import digest_value
from deltann.job import Job, Plan
from deltann.kinds.resolve import ResolveDataParams, ResolveModelParams
from deltann.plan.build import PlanBuilder
from deltann.spec.models import Native, Study


def sweep_id(study: Study) -> str:
    """The id of a staged study's sweep: its name and the digest of all that it says."""
    return f"{study.name[:40].lower()}-{digest_value(study.model_dump(mode='json', by_alias=True))[:16]}"


@dataclass(frozen=True)
class ResolvePlan:
    """The resolve jobs of a study, and who is resolved by which.

    ``natives`` are, for each model, the jobs of its natives, where equal natives share one; ``data`` is the data's job.
    """

    jobs: tuple[Job, ...]
    natives: tuple[tuple[int, ...], ...]
    data: int


def plan_resolve(study: Study) -> Plan:
    """One ``resolve_model`` job per native, in the study's order, then one ``resolve_data`` job."""
    return Plan(jobs=resolve_jobs(study).jobs)


def resolve_jobs(study: Study) -> ResolvePlan:
    """The jobs of :func:`plan_resolve`, and which of them is whose."""
    builder = PlanBuilder()
    natives = tuple(
        tuple(
            builder.add(
                "resolve_model",
                _params(native),
                sources={"file": native.file} if native.file else {},
                label=f"{model.name}: resolve {native.source}",
            )
            for native in model.natives
        )
        for model in study.models
    )
    data = builder.add(
        "resolve_data",
        ResolveDataParams(source=study.data.source, limit=study.data.limit, seed=study.data.seed),
        sources={"archive": study.data.archive} if study.data.archive else {},
        label=f"resolve the data {study.data.source}",
    )
    return ResolvePlan(tuple(builder.jobs), natives, data)


def _params(native: Native) -> ResolveModelParams:
    return ResolveModelParams(
        source=native.source,
        framework=native.framework,
        format=native.format,
        input_layout=native.input_layout,
        output=native.output,
        classes=native.classes,
        class_offset=native.class_offset,
        trust=native.trusted,
    )
