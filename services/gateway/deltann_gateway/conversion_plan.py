"""The jobs of one conversion: pure, like every plan."""

from __future__ import annotations

from pathlib import PurePath

from deltann.artifact import ArtifactRef
from deltann.errors import InputError
from deltann.job import Plan
from deltann.kinds.convert import ConvertParams
from deltann.kinds.resolve import ResolveModelParams
from deltann.model import Framework
from deltann.plan.build import PlanBuilder
from deltann.plan.nodes import hops

_ENDINGS: dict[str, Framework] = {
    ".pt2": "pytorch",
    ".pt": "pytorch",
    ".pth": "pytorch",
    ".keras": "keras",
    ".tflite": "tflite",
    ".onnx": "onnx",
}


def conversion_plan(
    model: ArtifactRef,
    target: Framework,
    *,
    source: Framework | None = None,
    tool: str | None = None,
    raw: bool = False,
) -> Plan:
    """Describe the model, then convert it: through ONNX, unless that is one of the ends.

    Args:
        model: the stored file, or the folder of a SavedModel.
        target: framework to convert to.
        source: framework of the model, where its name does not tell.
        tool: a converter by name for the last step, instead of the preferred one.
        raw: leave the ONNX in between as its exporter wrote it.

    Raises:
        InputError: if the source is not known, or is the target.
    """
    start = source or framework_of(model)
    if start == target:
        raise InputError(f"{model.name} is a model of {target} already.")
    builder = PlanBuilder()
    at = builder.add(
        "resolve_model",
        ResolveModelParams(source=model.name, framework=start),
        sources={"file": model},
        label=f"read {model.name}",
    )
    for hop in hops(start, target):
        params = ConvertParams(source=start, target=hop, tool=tool if hop == target else None, normalise=not raw)
        at = builder.add("convert", params, needs={"model": at}, label=f"{model.name} {start} → {hop}")
        start = hop
    return Plan(jobs=tuple(builder.jobs))


def framework_of(model: ArtifactRef) -> Framework:
    """The framework that a stored model's name tells; a folder is a SavedModel or a CoreML package.

    Raises:
        InputError: if it tells none.
    """
    if model.packing == "tar":
        return "coreml" if model.name.endswith(".mlpackage") else "tensorflow"
    ending = PurePath(model.name).suffix.lower()
    if ending not in _ENDINGS:
        raise InputError(
            f"The name {model.name!r} does not tell its framework: say which, or end it in {', '.join(_ENDINGS)}."
        )
    return _ENDINGS[ending]
