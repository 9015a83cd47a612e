"""A conversion, done here or by a gateway."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from deltann.artifact import ArtifactRef
from deltann.cli.places import written
from deltann.cli.single import Bench, ReadyModel
from deltann.client import GatewayClient
from deltann.client.conversions import ConversionStepStatus
from deltann.errors import InputError, ModelError, WorkError
from deltann.kinds.convert import ConvertData, ConvertParams
from deltann.model import Framework
from deltann.plan.nodes import hops
from deltann.staging import stage_model
from deltann.staging.files import is_there, meant

_LOAD = (
    "import sys; import keras; "
    "layer = keras.layers.TFSMLayer(sys.argv[1], call_endpoint='serving_default'); assert layer is not None"
)
"""What plain Keras, without anything of ours, does to load a SavedModel."""
_LOAD_S = 180


class Converted(BaseModel):
    """What came out, its format, and the steps that made it. ``note`` is for a person."""

    model: ArtifactRef
    format: str
    steps: list[ConversionStepStatus]
    note: str = ""


def convert_here(
    bench: Bench, ready: ReadyModel, target: Framework, *, tool: str | None, normalise: bool, direct: bool
) -> Converted:
    """Convert on this machine, through ONNX unless ``direct``.

    Raises:
        InputError: if the model is in that framework already, or compiled.
        WorkError: if a converter failed.
    """
    source = ready.info.framework
    if ready.compiled:
        raise InputError(f"{ready.source} is a compiled module; only models can be converted.")
    if source == target:
        raise InputError(f"{ready.source} is a model of {target} already ({ready.info.format}).")
    at, steps = along(bench, ready, (target,) if direct else hops(source, target), tool=tool, normalise=normalise)
    if at.info.format != "keras_recipe":
        return Converted(model=at.ref, format=at.info.format, steps=steps)
    # Its own file is ONNX and how to rebuild from it, which nobody but us can read.
    plain, step = _step(bench, at, "tensorflow", None, normalise)
    _check_plain_keras(bench, plain)
    note = "a SavedModel, which plain Keras loads: keras.layers.TFSMLayer(path, call_endpoint='serving_default')"
    return Converted(model=plain.ref, format=plain.info.format, steps=[*steps, step], note=note)


def along(
    bench: Bench, at: ReadyModel, hops: Sequence[Framework], *, tool: str | None = None, normalise: bool = True
) -> tuple[ReadyModel, list[ConversionStepStatus]]:
    """Convert from framework to framework, the last time by a tool where one is named: what came out, and the steps.

    Raises:
        WorkError: if a converter failed.
    """
    steps: list[ConversionStepStatus] = []
    for hop in hops:
        at, step = _step(bench, at, hop, tool if hop == hops[-1] else None, normalise)
        steps.append(step)
    return at, steps


def convert_there(
    address: str,
    model: str,
    target: Framework,
    out: Path,
    *,
    source: Framework | None,
    tool: str | None,
    normalise: bool,
) -> Converted:
    """Have a gateway convert a model file, and write what came out to ``out``.

    Raises:
        ModelError: if there is no such file.
        WorkError: if no gateway answers or the converter failed.
    """
    path = Path(model)
    if not is_there(path):
        raise ModelError(f"There is no model {model}. {meant(path)}A gateway converts files and SavedModel folders.")
    with GatewayClient(address) as client:
        ref = stage_model(path, client.store)
        cid = client.conversions.submit(ref, target, source=source, tool=tool, normalise=normalise)
        *_, last = client.conversions.watch(cid)
        if last.model is None:
            raise WorkError(f"Converting {model} to {target} failed ({last.outcome or 'no outcome'}): {last.error}")
        with written(out) as new:
            client.conversions.fetch(cid, new)
    return Converted(model=last.model, format=out.suffix.lstrip(".") or "folder", steps=list(last.steps))


def _step(
    bench: Bench, at: ReadyModel, target: Framework, tool: str | None, normalise: bool
) -> tuple[ReadyModel, ConversionStepStatus]:
    source = at.info.framework
    params = ConvertParams(source=source, target=target, info=at.info, tool=tool, normalise=normalise)
    result = bench.do("convert", params, {"model": at.ref}, f"converting {source} to {target}")
    found = ConvertData.model_validate(result.data)
    fields = found.step.model_dump(include={"tool", "version", "source", "target", "seconds"})
    made = ReadyModel(at.source, result.artifacts["model"], found.info)
    return made, ConversionStepStatus(**fields, parity=found.parity)


def _check_plain_keras(bench: Bench, model: ReadyModel) -> None:
    folder = bench.store.materialise(model.ref, bench.cache)
    try:
        done = subprocess.run(
            [sys.executable, "-c", _LOAD, str(folder)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LOAD_S,
            check=False,
            env=os.environ | {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        )
    except subprocess.TimeoutExpired:
        raise WorkError(
            f"The model was converted, but plain Keras has not loaded what came out within {_LOAD_S} s, so it was not "
            "written. Run it again on a machine with less to do."
        ) from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise WorkError(
            f"The model was converted, but plain Keras cannot load what came out ({last}), so it was not written. "
            "Convert to tensorflow instead, or use it inside a study, where DeltaNN rebuilds it."
        )
