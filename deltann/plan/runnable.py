"""What the executor is given for a build of a model, and the jobs that make it."""

from __future__ import annotations

from dataclasses import dataclass, field

from deltann.artifact import ArtifactRef
from deltann.engines import ENGINES
from deltann.kinds.build import BuildParams
from deltann.kinds.compile import CompileParams, ImportParams
from deltann.model import ENGINE_OF, ModelInfo
from deltann.mutation import Mutation
from deltann.passes import PassChoice
from deltann.plan.build import PlanBuilder
from deltann.plan.builds import Build
from deltann.plan.nodes import Node, importable, step
from deltann.spec.models import Study
from deltann.targets import HOST


@dataclass(frozen=True)
class Runnable:
    """A model, or a module with the jobs that make it: edges and sources of the jobs that run it.

    ``read`` is the conversion to the ONNX that the engine or compiler reads, where the model itself is none.
    """

    needs: dict[str, int]
    sources: dict[str, ArtifactRef] = field(default_factory=dict)
    info: ModelInfo | None = None
    read: int | None = None
    imported: int | None = None
    compiled: int | None = None


def runnable(builder: PlanBuilder, node: Node, build: Build, study: Study, inside: Mutation | None = None) -> Runnable:
    """What runs a node as a build asks: the model itself in its own engine, else its ONNX or a module of it.

    Args:
        builder: of the plan.
        node: the model.
        build: how it is run.
        study: that it is of.
        inside: a mutation of the graph or kernels that TVM makes.
    """
    own = ENGINE_OF[node.framework]
    if own in (build.engine, ENGINES[build.engine].beside):
        return Runnable(node.needs, node.sources, node.info)
    if build.engine == "tvm":
        model = importable(builder, node, study.conversions.opset)
        imported, compiled = _compile(builder, node, model, build, study.compile)
        if inside is not None:
            compiled = _mutate(builder, node, imported, compiled, inside)
        return Runnable({"module": compiled}, read=_read(node, model), imported=imported, compiled=compiled)
    model = node if node.format == "onnx" else step(builder, node, "onnx", opset=study.conversions.opset)
    if not ENGINES[build.engine].compiler:
        return Runnable(model.needs, model.sources, model.info, _read(node, model))
    params = BuildParams(compiler=build.engine, level=build.level_name, info=model.info)
    by = " ".join(word for word in (build.engine, build.level_name) if word)
    compiled = builder.add(
        "build", params, needs=model.needs, sources=model.sources, label=f"{node.name}: build with {by}"
    )
    return Runnable({"module": compiled}, read=_read(node, model), compiled=compiled)


def _read(node: Node, model: Node) -> int | None:
    return None if model is node else model.job


def _compile(builder: PlanBuilder, node: Node, model: Node, build: Build, passes: PassChoice) -> tuple[int, int]:
    imported = builder.add(
        "import",
        ImportParams(info=model.info, reuse=node.mutation is not None),
        needs=model.needs,
        sources=model.sources,
        label=f"{node.name}: import into TVM",
    )
    params = CompileParams(
        target=build.target or HOST,
        level=build.level or 0,
        schedule=build.schedule or "standard",
        precision=build.precision,
        enable=passes.enable,
        disable=passes.disable,
        reuse=node.mutation is not None,
    )
    label = f"{node.name}: compile at level {build.level} for {build.target}"
    return imported, builder.add("compile", params, needs={"ir": imported}, label=label)


def _mutate(builder: PlanBuilder, node: Node, imported: int, original: int, mutation: Mutation) -> int:
    """The same compilation, mutated on its way, held against the module without them."""
    same = CompileParams.model_validate(builder.jobs[original].params)
    return builder.add(
        "compile",
        same.model_copy(update={"mutation": mutation, "reuse": True}),
        needs={"ir": imported, "module": original},
        label=f"{node.name}: compile at level {same.level} for {same.target}, mutated by {mutation.name}",
    )
