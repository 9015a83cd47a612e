"""The jobs of one conversion: pure, like every plan."""

from __future__ import annotations

from pathlib import PurePath

from deltann.artifact import ArtifactRef
from deltann.digest import digest_value
from deltann.errors import InputError
from deltann.job import Job, Plan
from deltann.kinds.convert import ConvertParams
from deltann.kinds.resolve import ResolveModelParams
from deltann.model import Framework

_QUEUE = "converter"
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
    hops: tuple[Framework, ...] = (target,) if "onnx" in (start, target) else ("onnx", target)
    resolve = ResolveModelParams(source=model.name, framework=start).model_dump(mode="json")
    jobs = [
        Job(
            index=0,
            kind="resolve_model",
            params=resolve,
            queue=_QUEUE,
            job_id=digest_value(["resolve_model", resolve, model.digest]),
            sources={"file": model},
            label=f"read {model.name}",
        )
    ]
    at = start
    for hop in hops:
        params = ConvertParams(source=at, target=hop, tool=tool if hop == target else None, normalise=not raw)
        plain = params.model_dump(mode="json")
        jobs.append(
            Job(
                index=len(jobs),
                kind="convert",
                params=plain,
                queue=_QUEUE,
                job_id=digest_value(["convert", plain, jobs[-1].job_id]),
                needs={"model": jobs[-1].index},
                label=f"{model.name} {at} → {hop}",
            )
        )
        at = hop
    return Plan(jobs=tuple(jobs))


def framework_of(model: ArtifactRef) -> Framework:
    """The framework that a stored model's name tells; a folder is a SavedModel.

    Raises:
        InputError: if it tells none.
    """
    if model.packing == "tar":
        return "tensorflow"
    ending = PurePath(model.name).suffix.lower()
    if ending not in _ENDINGS:
        raise InputError(
            f"The name {model.name!r} does not tell its framework: say which, or end it in {', '.join(_ENDINGS)}."
        )
    return _ENDINGS[ending]
