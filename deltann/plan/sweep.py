"""The main plan of a sweep: every conversion, compilation, execution and timing, and the analysis after them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from deltann.errors import DataError, SpecError
from deltann.job import JobResult, Plan
from deltann.kinds.analyze import AnalyzeParams
from deltann.kinds.resolve import DataManifest
from deltann.plan.attacks import plan_attacks
from deltann.plan.build import PlanBuilder
from deltann.plan.context import (
    AttackPlan,
    ConversionPlan,
    LocalizationPlan,
    NativeModel,
    SweepContext,
    Untrained,
    VariantPlan,
)
from deltann.plan.conversions import ConversionPlanner
from deltann.plan.localizations import plan_localizations
from deltann.plan.natives import named_natives, trained_natives
from deltann.plan.nodes import step
from deltann.plan.resolve import resolve_jobs, sweep_id
from deltann.plan.variants import VariantPlanner
from deltann.spec.data import DataEntry
from deltann.spec.models import Study


def plan_sweep(study: Study, results: Mapping[int, JobResult]) -> Plan:
    """The jobs of a study.

    Args:
        study: as staged.
        results: the results of :func:`plan_resolve`'s jobs by index, all of them usable but of trainings, which may
            have failed or left none.

    Raises:
        DataError: for a data set without inputs.
        ModelError: for two natives that nothing tells apart, and for a model of which no training ended with one.
        SpecError: for a recipe that does not fit a model's input, and for two variants of one name.
    """
    resolved = resolve_jobs(study)
    manifest = _manifest(results[resolved.data], study.data)
    manifests = {
        model.name: _manifest(results[resolved.own_data[model.name]], model.data)
        for model in study.models
        if model.data is not None
    }
    builder = PlanBuilder()
    untrained: list[Untrained] = []
    natives: list[NativeModel] = []
    conversions: list[ConversionPlan] = []
    variants: list[VariantPlan] = []
    localizations: list[LocalizationPlan] = []
    attacks: list[AttackPlan] = []
    for entry, indices, trained in zip(study.models, resolved.natives, resolved.trained, strict=True):
        # The frameworks of one trained instance convert into each other, as the natives of a model do.
        groups, failed = trained_natives(entry, trained, results)
        groups = groups or [named_natives(entry, [results[index] for index in indices])]
        untrained += failed
        nodes = [node for group in groups for node in group]
        given = manifests.get(entry.name, manifest)
        planner = VariantPlanner(builder, study, entry, given)
        for node in nodes:
            planner.add(node)
        converted = [one for group in groups for one in ConversionPlanner(builder, group, study.conversions).plan()]
        if study.conversions.include_onnx or study.mutations:
            asked_for = {one.made.job for one in converted}
            for node in nodes:
                if node.framework == "onnx":
                    continue
                made = step(builder, node, "onnx", opset=study.conversions.opset)
                if made.job not in asked_for:
                    planner.add(made, source=node)
        for one in converted:
            planner.add(one.made, conversion=one.plan.id, source=one.source)
        if study.localize is not None and converted:
            plans, recipe = [one.plan for one in converted], planner.reference(nodes[0])
            localizations += plan_localizations(builder, plans, recipe, given, study.localize)
        if study.mutations:
            for node in nodes:
                onnx = node if node.framework == "onnx" else step(builder, node, "onnx", opset=study.conversions.opset)
                planner.add_mutants(node, onnx)
        if not planner.variants:
            raise SpecError(
                f"None of the engines {', '.join(study.engines)} runs a model of {entry.name}: add own to engines, or "
                "one that reads ONNX (onnxruntime, openvino, iree, tvm)."
            )
        if study.attacks:
            stored = results[resolved.own_data.get(entry.name, resolved.data)].artifacts
            attacks += plan_attacks(builder, study, entry, groups, planner.variants, given, stored)
        natives += [node.native for node in nodes]
        conversions += [one.plan for one in converted]
        variants += planner.variants
    _each_once("variant", [one.id for one in variants])
    _each_once("conversion", [one.id for one in conversions])
    sid = sweep_id(study)
    everything = tuple(range(len(builder.jobs)))
    builder.add("analyze", AnalyzeParams(sweep=sid), after=everything, label="analyse and report")
    context = SweepContext(
        sweep=sid,
        study=study,
        manifest=manifest,
        manifests=manifests,
        natives=tuple(natives),
        untrained=tuple(untrained),
        conversions=tuple(conversions),
        variants=tuple(variants),
        localizations=tuple(localizations),
        attacks=tuple(attacks),
    )
    return Plan(jobs=builder.jobs, context=context.model_dump(mode="json", by_alias=True))


def _manifest(result: JobResult, data: DataEntry) -> DataManifest:
    manifest = DataManifest.model_validate(result.data["manifest"])
    if manifest.n == 0:
        raise DataError(f"The data set {data.source} has no usable input, so there is nothing to compare.")
    return manifest


def _each_once(what: str, ids: list[str]) -> None:
    """Results are told apart by these ids, so a plan in which two are equal is none."""
    twice = [identity for identity, count in Counter(ids).items() if count > 1]
    if twice:
        raise SpecError(
            f"The study asks for the {what} {twice[0]!r} in two ways, and their results could not be told apart. "
            "Leave one of them out."
        )
