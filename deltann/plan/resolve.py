"""The first plan of a sweep: models and data made into stored, described objects."""

from __future__ import annotations

from deltann.digest import digest_value
from deltann.job import Plan
from deltann.kinds.resolve import ResolveDataParams, ResolveModelParams
from deltann.plan.build import PlanBuilder
from deltann.spec.models import Native, Study

QUEUE = "converter"


def sweep_id(study: Study) -> str:
    """The id of a staged study's sweep: its name and the digest of all that it says."""
    return f"{study.name[:40].lower()}-{digest_value(study.model_dump(mode='json', by_alias=True))[:16]}"


def plan_resolve(study: Study) -> Plan:
    """One ``resolve_model`` job per native, in the study's order, then one ``resolve_data`` job."""
    builder = PlanBuilder()
    for model in study.models:
        for native in model.natives:
            builder.add(
                "resolve_model",
                _params(native),
                QUEUE,
                sources={"file": native.file} if native.file else {},
                label=f"{model.name}: resolve {native.source}",
            )
    builder.add(
        "resolve_data",
        ResolveDataParams(source=study.data.source, limit=study.data.limit, seed=study.data.seed),
        QUEUE,
        sources={"archive": study.data.archive} if study.data.archive else {},
        label=f"resolve the data {study.data.source}",
    )
    return Plan(jobs=tuple(builder.jobs))


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


def native_indices(study: Study) -> list[list[int]]:
    """For each model, the resolve jobs of its natives; equal natives share one job, as in :func:`plan_resolve`."""
    plan = plan_resolve(study)
    by_work = {(str(job.params), str(job.sources)): job.index for job in plan.jobs}
    found = []
    for model in study.models:
        row = []
        for native in model.natives:
            sources = {"file": native.file} if native.file else {}
            row.append(by_work[(str(_params(native).model_dump(mode="json")), str(sources))])
        found.append(row)
    return found
