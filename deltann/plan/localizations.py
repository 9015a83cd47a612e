"""Which conversion steps are looked into, and over which inputs."""

from __future__ import annotations

from collections.abc import Iterable

from deltann.kinds.convert import ConvertParams
from deltann.kinds.repair import LocalizeParams
from deltann.kinds.resolve import DataManifest
from deltann.plan.build import PlanBuilder
from deltann.plan.context import ConversionPlan, LocalizationPlan
from deltann.preprocess.steps import Recipe
from deltann.spec.models import Localization


def plan_localizations(
    builder: PlanBuilder,
    conversions: Iterable[ConversionPlan],
    recipe: Recipe,
    manifest: DataManifest,
    wanted: Localization,
) -> list[LocalizationPlan]:
    """A job for every step of the conversions, each step once.

    Args:
        builder: that has their jobs.
        conversions: of one model.
        recipe: which prepares the inputs of that model.
        manifest: the inputs.
        wanted: how many of them.
    """
    shards = [shard for shard in manifest.shards if shard.start < wanted.inputs]
    found = []
    for step in dict.fromkeys(index for one in conversions for index in one.jobs):
        converting = builder.jobs[step]
        asked = ConvertParams.model_validate(converting.params)
        needs, sources = {"target": step}, {f"shard{place}": shard.blob for place, shard in enumerate(shards)}
        if "model" in converting.needs:
            needs["source"] = converting.needs["model"]
        else:
            sources["source"] = converting.sources["model"]
        params = LocalizeParams(
            source=asked.source,
            target=asked.target,
            source_info=asked.info,
            source_recipe=recipe,
            target_recipe=recipe,
            data_kind=manifest.kind,
            shards=len(shards),
            limit=min(wanted.inputs, manifest.n),
            doubted=not wanted.always,
        )
        job = builder.add(
            "localize",
            params,
            needs=needs,
            sources=sources,
            label=f"{converting.label}: what is wrong",
        )
        found.append(LocalizationPlan(step=step, job=job))
    return found
