"""Kind ``explain``: what each pass does to a model."""

from __future__ import annotations

from typing import Any

from deltann.kinds.compile import ExplainData, ExplainedPass, ExplainParams
from deltann.passes import PASSES
from deltann.service import JobContext, Produced
from deltann_compiler.build import give_loops, run_passes
from deltann_compiler.compiling import load_ir, target_of, told
from deltann_compiler.levels import TABLE, Pass, passes_of
from deltann_compiler.loops import loops_of


def explain_model(params: ExplainParams, context: JobContext) -> Produced:
    """Run the passes over role ``ir`` one by one and say which changed it. Nothing is compiled.

    Raises:
        JobFailure: as compiling it would.
    """
    target = target_of(params)
    with told(params):
        rows = explain(load_ir(context), params, target)
    return Produced(data=ExplainData(target=target, level=params.level, passes=rows))


def explain(module: Any, params: ExplainParams, target: dict[str, Any]) -> list[ExplainedPass]:
    """The passes of levels and what else ran, and what each did to this module. Dead code counts for nothing."""
    from tvm.relax.transform import DeadCodeElimination
    from tvm_ffi import structural_equal

    alive = DeadCodeElimination(["main"])
    chosen = passes_of(params, target["kind"])
    after: dict[int, dict[str, Any]] = {}
    lowered, before = module, alive(module)
    for one, lowered in run_passes(module, chosen, target):
        if one.option is None:
            now = alive(lowered)
            after[id(one)] = {"changed": not structural_equal(before, now), **_counts(now)}
            before = now
    shown = [one for one in TABLE if one in chosen or one.level is not None]
    rows = [_row(one, one in chosen, after.get(id(one), {})) for one in shown]
    counts = _counts(lowered)
    fitted = give_loops(lowered, params.schedule, target)
    last = ExplainedPass(
        name=loops_of(params.schedule, target["kind"]).name,
        joins=params.schedule,
        ran=True,
        changed=fitted.kernels > len(fitted.unscheduled),
        **counts,
    )
    end = sum(one.option is None for one in shown)
    return [*rows[:end], last, *rows[end:]]


def _row(one: Pass, ran: bool, found: dict[str, Any]) -> ExplainedPass:
    facts = PASSES.get(one.name)  # type: ignore[call-overload]
    return ExplainedPass(name=one.name, joins=one.joins, what=facts.what if facts else "", ran=ran, **found)


def _counts(module: Any) -> dict[str, int]:
    from tvm import relax, tirx

    calls = sum(
        isinstance(binding.value, relax.Call) for block in module["main"].body.blocks for binding in block.bindings
    )
    return {"operators": calls, "kernels": sum(isinstance(one, tirx.PrimFunc) for one in module.functions.values())}
