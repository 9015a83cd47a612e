"""Kind ``build``: an ONNX model by a compiler that takes it whole."""

from __future__ import annotations

import os
import traceback
from importlib import import_module

from deltann.errors import JobFailure
from deltann.kinds.build import BuildData, BuildParams
from deltann.model import ModelInfo
from deltann.outcome import Outcome
from deltann.service import JobContext, Produced
from deltann_compiler.frontends.onnx import batch_of_one


def build_model(params: BuildParams, context: JobContext) -> Produced:
    """Build role ``model``. What it computes is held against the model's own engine by the pairs of the report.

    Raises:
        JobFailure: ``compile_failed`` where the compiler cannot build the model, with its reason.
    """
    compiler = import_module(f"deltann_compiler.compilers.{params.compiler}")
    source = context.fetch("model")
    info = params.info or ModelInfo.model_validate(context.inputs["model"].data["info"])
    path = context.workdir / "module"
    began = _cpu_seconds()
    try:
        compiler.build(batch_of_one(source, info), params.level, path)
    except Exception as error:
        traceback.print_exc()
        at = f" at level {params.level}" if params.level else ""
        message = f"{params.compiler} cannot build this model{at}: {compiler.telling_line(error)}"
        raise JobFailure(Outcome.COMPILE_FAILED, "compile", message) from error
    shape = tuple(1 if side is None else side for side in info.input.shape)
    built = info.model_copy(update={"input": info.input.model_copy(update={"shape": shape})})
    data = BuildData(info=built, cpu_seconds=_cpu_seconds() - began)
    return Produced(artifacts={"module": context.put_weights(path)}, data=data)


def _cpu_seconds() -> float:
    """Of this process and of the programs that it has run, which compilers may be."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system
