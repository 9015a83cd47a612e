"""Kind ``compile``: checked IR into a module for a target at a level."""

from __future__ import annotations

import time
import traceback

from deltann.errors import JobFailure
from deltann.kinds.compile import CompileData, CompileParams
from deltann.model import ModelInfo
from deltann.outcome import Outcome
from deltann.service import JobContext, Produced
from deltann_compiler.build import export, lower, target_of_level, telling_line
from deltann_compiler.targets import lanes, resolve

_SUPPORTED = {"schedule": "standard", "precision": "fp32", "compiler": "tvm"}


def compile_model(params: CompileParams, context: JobContext) -> Produced:
    """Compile role ``ir``.

    Raises:
        JobFailure: ``compile_failed`` for an unknown target, and where TVM or the linker fail.
    """
    for name, known in _SUPPORTED.items():
        if getattr(params, name) != known:
            raise JobFailure(
                Outcome.COMPILE_FAILED, "compile", f"the {name} {getattr(params, name)!r} is not built yet; {known} is"
            )
    target = target_of_level(resolve(params.target), params.level)
    info = params.info or ModelInfo.model_validate(context.inputs["ir"].data["info"])
    path = context.workdir / "module.so"
    began = time.process_time()
    try:
        import tvm

        ir = tvm.ir.load_json(context.fetch_signed("ir").read_text())
        scheduled, passes = lower(ir, params.level, target, lanes(target))
        export(scheduled.module, target, path)
    except Exception as error:
        traceback.print_exc()
        message = f"TVM failed at level {params.level} for {params.target}: {telling_line(error)}"
        raise JobFailure(Outcome.COMPILE_FAILED, "compile", message) from error
    data = CompileData(
        info=info,
        target=target,
        passes=passes,
        size_bytes=path.stat().st_size,
        cpu_seconds=time.process_time() - began,
        kernels=scheduled.kernels,
        unscheduled=scheduled.unscheduled,
    )
    return Produced(artifacts={"module": context.put(path)}, data=data)
