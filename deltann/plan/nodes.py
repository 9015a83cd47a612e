"""Models as the plan sees them: natives, and what conversion steps will make of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from deltann.artifact import ArtifactRef
from deltann.kinds.convert import DIRECT, ConvertParams
from deltann.kinds.mutate import MutateParams
from deltann.kinds.quantize import QUANTIZE, SCHEMES, QuantizeParams, Scheme
from deltann.kinds.resolve import DataManifest
from deltann.model import Format, Framework, ModelInfo
from deltann.mutation import Mutation
from deltann.plan.build import PlanBuilder
from deltann.plan.context import NativeModel
from deltann.preprocess.steps import Recipe

MADE: dict[Framework, Format] = {
    "pytorch": "pt2",
    "keras": "keras_recipe",
    "tensorflow": "savedmodel",
    "tflite": "tflite",
    "onnx": "onnx",
    "coreml": "mlpackage",
}
"""The format that a conversion step gives."""


def hops(source: Framework, target: Framework) -> tuple[Framework, ...]:
    """The frameworks that a conversion passes after its source: through ONNX, unless that is one of the ends.

    Nothing reads ONNX for CoreML: there PyTorch is passed, unless the source is one that coremltools reads.
    """
    if target == "coreml":
        return (target,) if (source, target) in DIRECT else (*hops(source, "pytorch"), target)
    return (target,) if "onnx" in (source, target) else ("onnx", target)


IMPORTED: frozenset[Format] = frozenset({"pt2", "tflite", "onnx"})
"""Formats that the compiler reads itself; the others go through ONNX."""


@dataclass(frozen=True)
class Node:
    """A model of the plan: a native (``ref`` and ``info``), or what job ``job`` makes.

    ``chain`` are the frameworks from the native to here, ``steps`` the conversion jobs, ``mutated`` the job that
    makes a mutant of what came of them, ``quantized`` the one that makes it of fewer bits; ``name`` is for people.
    """

    native: NativeModel
    name: str
    format: Format
    framework: Framework
    chain: tuple[Framework, ...]
    steps: tuple[int, ...] = ()
    ref: ArtifactRef | None = None
    info: ModelInfo | None = None
    mutation: Mutation | None = None
    mutated: int | None = None
    scheme: Scheme | None = None
    quantized: int | None = None

    @property
    def job(self) -> int | None:
        """The job that makes it, or None for a native."""
        if self.quantized is not None:
            return self.quantized
        if self.mutated is not None:
            return self.mutated
        return self.steps[-1] if self.steps else None

    @property
    def needs(self) -> dict[str, int]:
        """The edge of a job that takes this model, in the role ``model``."""
        return {} if self.job is None else {"model": self.job}

    @property
    def sources(self) -> dict[str, ArtifactRef]:
        """The stored object of a job that takes this native, in the role ``model``."""
        return {} if self.ref is None else {"model": self.ref}


def native_node(native: NativeModel, ref: ArtifactRef) -> Node:
    """The node of a resolved native."""
    info = native.info
    return Node(native, native.id, info.format, info.framework, (info.framework,), (), ref, info)


def step(
    builder: PlanBuilder,
    node: Node,
    target: Framework,
    *,
    tool: str | None = None,
    normalise: bool = True,
    opset: int = 17,
    suffix: str = "",
) -> Node:
    """The node that one conversion step makes."""
    params = ConvertParams(
        source=node.framework, target=target, info=node.info, tool=tool, normalise=normalise, opset=opset
    )
    label = f"{node.name} → {target}{suffix}"
    job = builder.add("convert", params, needs=node.needs, sources=node.sources, label=label)
    return Node(
        native=node.native,
        name=label,
        format=MADE[target],
        framework=target,
        chain=(*node.chain, target),
        steps=(*node.steps, job),
    )


def mutant(builder: PlanBuilder, node: Node, mutation: Mutation) -> Node:
    """The node that a mutation of a node in ONNX makes."""
    params = MutateParams(info=node.info, mutation=mutation)
    label = f"{node.name}: mutate by {mutation.name}"
    job = builder.add("mutate", params, needs=node.needs, sources=node.sources, label=label)
    return replace(node, ref=None, info=None, mutation=mutation, mutated=job)


def quantized(
    builder: PlanBuilder, node: Node, like: Node, scheme: Scheme, recipe: Recipe, calibration: DataManifest | None
) -> Node:
    """The node that a scheme makes.

    Args:
        builder: of the plan.
        node: what the scheme reads.
        like: the model that the result is to be held against: the same, not quantised.
        scheme: one that reads the node's framework.
        recipe: how the model is fed.
        calibration: inputs, for a scheme that needs them.
    """
    chosen: dict[str, object] = {}
    sources = dict(node.sources)
    if SCHEMES[scheme].calibrated and calibration is not None:
        chosen = {"recipe": recipe, "data_kind": calibration.kind, "inputs": calibration.n}
        sources["calibration"] = calibration.shards[0].blob
    params = QuantizeParams.model_validate({"scheme": scheme, "info": node.info, **chosen})
    label = f"{like.name}: quantise by {scheme}"
    job = builder.add(QUANTIZE, params, needs=node.needs, sources=sources, label=label)
    return replace(like, name=f"{like.name} {scheme}", ref=None, info=None, scheme=scheme, quantized=job)


def importable(builder: PlanBuilder, node: Node, opset: int) -> Node:
    """The node that the compiler imports for this one: itself, or its ONNX."""
    return node if node.format in IMPORTED else step(builder, node, "onnx", opset=opset)
