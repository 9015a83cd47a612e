"""Kind ``compile``: checked IR into a module for a target at a level."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from deltann.errors import JobFailure
from deltann.kinds.compile import CompileData, CompileParams
from deltann.model import ModelInfo
from deltann.outcome import Outcome
from deltann.service import JobContext, Produced
from deltann_compiler.build import export, lower, telling_line
from deltann_compiler.levels import options_of, passes_of
from deltann_compiler.loops import SCHEDULES
from deltann_compiler.mutation.job import described, graphs_compared, kernels_compared, mutated_at
from deltann_compiler.precision import check_precision
from deltann_compiler.reuse import kept_objects
from deltann_compiler.targets import needs_of, resolve

COMPILERS = ("tvm",)


def compile_model(params: CompileParams, context: JobContext) -> Produced:
    """Compile role ``ir``.

    Raises:
        JobFailure: ``compile_failed`` for what this compiler or the target has not, and where TVM or the linker fail;
            ``mutate_failed`` where there is no such mutant.
    """
    target = target_of(params)
    needs = needs_of(params.target, target)
    path = context.workdir / "module.so"
    began = time.process_time()
    with told(params):
        objects = kept_objects(context.warm) if params.reuse else None
        original = load_ir(context)
        graph = mutated_at("relax", original, params.mutation)
        scheduled, passes = lower(graph.module if graph else original, params, target)
        kernels = mutated_at("kernel", scheduled.module, params.mutation)
        code = export(kernels.module if kernels else scheduled.module, target, path, needs, objects)
    info = params.info or ModelInfo.model_validate(context.inputs["ir"].data["info"])
    mutated = None
    if kernels is not None:
        mutated = described(kernels, kernels_compared(kernels, path, info, context))
    elif graph is not None:
        mutated = described(graph, graphs_compared(original, graph, info, context))
    data = CompileData(
        info=info,
        target=target,
        needs=needs,
        passes=passes,
        size_bytes=path.stat().st_size,
        cpu_seconds=time.process_time() - began,
        kernels=scheduled.kernels,
        unscheduled=scheduled.unscheduled,
        device_code=code,
        mutated=mutated,
    )
    return Produced(artifacts={"module": context.put_weights(path)}, data=data)


def target_of(params: CompileParams) -> dict[str, Any]:
    """The target as TVM takes it, with what the passes ask of LLVM.

    Raises:
        JobFailure: ``compile_failed`` where there is no such compiler, schedule or target, or it lacks the precision.
    """
    for name, known in (("compiler", COMPILERS), ("schedule", SCHEDULES)):
        if getattr(params, name) not in known:
            asked = f"the {name} {getattr(params, name)!r} is not built yet; {' and '.join(known)} can be asked for"
            raise JobFailure(Outcome.COMPILE_FAILED, "compile", asked)
    target = resolve(params.target)
    check_precision(params.precision, params.target, target)
    return {**target, **options_of(passes_of(params, target["kind"]))}


def load_ir(context: JobContext) -> Any:
    """The IRModule in role ``ir``."""
    import tvm

    return tvm.ir.load_json(context.fetch_signed("ir").read_text())


@contextmanager
def told(params: CompileParams) -> Iterator[None]:
    """Whatever fails within is a failure of TVM for this level and target."""
    try:
        yield
    except JobFailure:
        raise
    except Exception as error:
        traceback.print_exc()
        message = f"TVM failed at level {params.level} for {params.target}: {telling_line(error)}"
        raise JobFailure(Outcome.COMPILE_FAILED, "compile", message) from error
