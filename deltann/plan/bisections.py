"""The jobs that find what makes levels and precisions of one model answer differently. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from deltann.kinds.bisect import BisectParams, Setting
from deltann.kinds.resolve import DataManifest
from deltann.plan.build import PlanBuilder
from deltann.plan.builds import Build
from deltann.plan.context import VariantPlan
from deltann.plan.nodes import Node, step
from deltann.preprocess.steps import Recipe
from deltann.spec.models import Study
from deltann.targets import HOST


def reference(build: Build, study: Study) -> Build | None:
    """What a build of TVM is held against: the first precision at its level, else the first level; None for these."""
    first = study.compile
    if build.engine != "tvm":
        return None
    if build.precision != first.precisions[0]:
        return replace(build, precision=first.precisions[0])
    return replace(build, level=first.levels[0]) if build.level != first.levels[0] else None


def bisected(
    builder: PlanBuilder,
    study: Study,
    manifest: DataManifest,
    node: Node,
    recipe: Recipe,
    variants: Mapping[Build, VariantPlan],
) -> dict[str, VariantPlan]:
    """Variants of one model with the jobs that bisect them, by id; those that are no part of it are left out.

    Args:
        builder: of the plan.
        study: that asks for it.
        manifest: of the data, whose first shard is looked at.
        node: the model.
        recipe: how they are fed.
        variants: the model's, by their builds, of one recipe and pool.
    """
    pairs = [(build, reference(build, study)) for build in variants]
    held = [(build, against) for build, against in pairs if against is not None]
    if not held:
        return {}
    model = node if node.format == "onnx" else step(builder, node, "onnx", opset=study.conversions.opset)
    found = {}
    for build, against in held:
        variant, other = variants[build], variants[against]
        params = BisectParams(
            info=model.info,
            target=build.target or HOST,
            a=_setting(against, study),
            b=_setting(build, study),
            recipe=recipe,
            data_kind=manifest.kind,
        )
        job = builder.add(
            "bisect",
            params,
            needs={**model.needs, "answers_a": other.execute_jobs[0], "answers_b": variant.execute_jobs[0]},
            sources={**model.sources, "shard0": manifest.shards[0].blob},
            label=f"{variant.id}: bisect against {other.id}",
        )
        found[variant.id] = variant.model_copy(update={"bisect_job": job, "against": other.id})
    return found


def _setting(build: Build, study: Study) -> Setting:
    return Setting.model_validate(
        {
            "level": build.level,
            "schedule": build.schedule,
            "precision": build.precision,
            "enable": study.compile.enable,
            "disable": study.compile.disable,
        }
    )
