"""The main plan of a sweep: every conversion, compilation, execution and timing, and the analysis after them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from deltann.errors import DataError, ModelError, SpecError
from deltann.job import JobResult, Plan
from deltann.kinds.analyze import AnalyzeParams
from deltann.kinds.resolve import DataManifest, ResolvedModel
from deltann.plan.build import PlanBuilder
from deltann.plan.context import ConversionPlan, LocalizationPlan, NativeModel, SweepContext, VariantPlan
from deltann.plan.conversions import ConversionPlanner
from deltann.plan.localizations import plan_localizations
from deltann.plan.nodes import Node, native_node, step
from deltann.plan.resolve import resolve_jobs, sweep_id
from deltann.plan.variants import VariantPlanner
from deltann.spec.models import ModelEntry, Study


def plan_sweep(study: Study, results: Mapping[int, JobResult]) -> Plan:
    """The jobs of a study.

    Args:
        study: as staged.
        results: the results of :func:`plan_resolve`'s jobs by index, all of them usable.

    Raises:
        DataError: for a data set without inputs.
        ModelError: for two natives that nothing tells apart.
        SpecError: for a recipe that does not fit a model's input, and for two variants of one name.
    """
    resolved = resolve_jobs(study)
    manifest = DataManifest.model_validate(results[resolved.data].data["manifest"])
    if manifest.n == 0:
        raise DataError(f"The data set {study.data.source} has no usable input, so there is nothing to compare.")
    builder = PlanBuilder()
    natives: list[NativeModel] = []
    conversions: list[ConversionPlan] = []
    variants: list[VariantPlan] = []
    localizations: list[LocalizationPlan] = []
    for entry, indices in zip(study.models, resolved.natives, strict=True):
        nodes = _natives(entry, [results[index] for index in indices])
        planner = VariantPlanner(builder, study, entry, manifest)
        for node in nodes:
            planner.add(node)
        converted = ConversionPlanner(builder, nodes, study.conversions).plan()
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
            localizations += plan_localizations(builder, plans, recipe, manifest, study.localize)
        if study.mutations:
            for node in nodes:
                onnx = node if node.framework == "onnx" else step(builder, node, "onnx", opset=study.conversions.opset)
                planner.add_mutants(node, onnx)
        if not planner.variants:
            raise SpecError(
                f"None of the engines {', '.join(study.engines)} runs a model of {entry.name}: add own to engines, or "
                "one that reads ONNX (onnxruntime, openvino, iree, tvm)."
            )
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
        natives=tuple(natives),
        conversions=tuple(conversions),
        variants=tuple(variants),
        localizations=tuple(localizations),
    )
    return Plan(jobs=builder.jobs, context=context.model_dump(mode="json", by_alias=True))


def _each_once(what: str, ids: list[str]) -> None:
    """Results are told apart by these ids, so a plan in which two are equal is none."""
    twice = [identity for identity, count in Counter(ids).items() if count > 1]
    if twice:
        raise SpecError(
            f"The study asks for the {what} {twice[0]!r} in two ways, and their results could not be told apart. "
            "Leave one of them out."
        )


def _natives(entry: ModelEntry, results: list[JobResult]) -> list[Node]:
    """Natives named by their framework, numbered where one framework has several."""
    resolved = [ResolvedModel.model_validate(result.data) for result in results]
    frameworks = [one.info.framework for one in resolved]
    nodes = []
    for position, (one, result) in enumerate(zip(resolved, results, strict=True)):
        framework = frameworks[position]
        many = frameworks.count(framework) > 1
        instance = f"{framework}-{frameworks[: position + 1].count(framework)}" if many else framework
        native = NativeModel(
            id=f"{entry.name}/{instance}",
            model=entry.name,
            instance=instance,
            info=one.info,
            note=one.note,
            preprocessing=entry.natives[position].preprocessing,
        )
        nodes.append(native_node(native, result.artifacts["model"]))
    if len({node.ref.digest for node in nodes if node.ref}) < len(nodes):
        raise ModelError(f"Two natives of {entry.name} are the same file. Name each native once.")
    return nodes
