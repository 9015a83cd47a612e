"""Models as the plan sees them: natives, and what conversion steps will make of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from deltann.artifact import ArtifactRef
from deltann.kinds.convert import DIRECT, ConvertParams
from deltann.kinds.mutate import MutateParams
from deltann.model import Format, Framework, ModelInfo
from deltann.mutation import Mutation
from deltann.plan.build import PlanBuilder
from deltann.plan.context import NativeModel

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
    makes a mutant of what came of them; ``name`` is for people.
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

    @property
    def job(self) -> int | None:
        """The job that makes it, or None for a native."""
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


def importable(builder: PlanBuilder, node: Node, opset: int) -> Node:
    """The node that the compiler imports for this one: itself, or its ONNX."""
    return node if node.format in IMPORTED else step(builder, node, "onnx", opset=opset)
