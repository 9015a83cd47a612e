"""Kind ``import``: a model into Relax IR, and the check that TVM computes what the model's own engine does."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

from deltann_engines import parity
from deltann_engines.base import load

from deltann.errors import JobFailure
from deltann.job import JobError
from deltann.kinds.compile import ImportData, ImportParams
from deltann.kinds.convert import Parity
from deltann.model import ENGINE_OF, ModelInfo
from deltann.outcome import Outcome
from deltann.service import JobContext, Produced
from deltann_compiler import frontends
from deltann_compiler.build import build_plain, telling_line
from deltann_compiler.reuse import kept_objects

IR = "ir.json"


def import_model(params: ImportParams, context: JobContext) -> Produced:
    """Import role ``model`` and check it, unoptimised, against its own engine.

    Unoptimised means: operators lowered one by one, in the layout of the source, nothing fused, folded or tiled. The
    loops of each are spread over threads and vectors, and LLVM's own optimisation is on, or it would take minutes.

    Raises:
        JobFailure: ``compile_failed`` where TVM's frontend cannot read the model, with its reason.
    """
    path = context.fetch("model")
    info = params.info or ModelInfo.model_validate(context.inputs["model"].data["info"])
    module, route = _frontend(path, info)
    shape = tuple(1 if side is None else side for side in info.input.shape)
    imported = info.model_copy(update={"input": info.input.model_copy(update={"shape": shape})})
    found = _check(module, path, info, imported, params, context)

    import tvm

    ir = context.workdir / IR
    ir.write_text(tvm.ir.save_json(module))
    mismatch = found.max_rel is None or found.max_rel > params.max_rel
    error = JobError(stage="import", type="ImportMismatch", message=_explain(found, params)) if mismatch else None
    return Produced(
        artifacts={"ir": context.put_weights(ir)},
        data=ImportData(info=imported, route=route, parity=found),
        outcome=Outcome.IMPORT_MISMATCH if mismatch else Outcome.OK,
        error=error,
    )


def _frontend(path: Path, info: ModelInfo) -> tuple[Any, Any]:
    try:
        return frontends.load(path, info)
    except JobFailure:
        raise
    except Exception as error:
        traceback.print_exc()
        raise JobFailure(
            Outcome.COMPILE_FAILED, "import", f"TVM cannot import this {info.format} model: {telling_line(error)}"
        ) from error


def _check(
    module: Any, path: Path, info: ModelInfo, imported: ModelInfo, params: ImportParams, context: JobContext
) -> Parity:
    try:
        library = build_plain(module, context.workdir, kept_objects(context.warm) if params.reuse else None)
    except Exception as error:
        traceback.print_exc()
        raise JobFailure(
            Outcome.COMPILE_FAILED, "import", f"TVM imported the model but cannot build it: {telling_line(error)}"
        ) from error
    inputs = parity.seeded_inputs(imported, params.parity_inputs, params.seed)
    with load(ENGINE_OF[info.framework], path, info) as session:
        expected = parity.outputs(session, inputs)
    with load("tvm", library, imported) as session:
        answered = parity.outputs(session, inputs)
    return parity.compare(expected, answered)


def _explain(found: Parity, params: ImportParams) -> str:
    if found.max_rel is None:
        return "the imported model gives no valid output on seeded inputs where its source does"
    return (
        f"the imported model, unoptimised, differs from its source by {found.max_rel:.2g} of the largest output on "
        f"{found.n} seeded inputs (allowed: {params.max_rel:.0e}); it keeps {found.top1_agreement:.0%} of their labels"
    )
