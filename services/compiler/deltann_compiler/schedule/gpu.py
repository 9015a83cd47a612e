"""The schedule for devices with threads (OpenCL, CUDA): every kernel's loops are bound to blocks and threads.

Rules are tried in order, and the first that fits a kernel schedules it: ours for convolutions and small windows, then
TVM's own (dlight), of which the last fits whatever has loops.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from deltann_compiler.schedule.blocks import children, extent, is_reduction, reductions
from deltann_compiler.schedule.module import Scheduled
from deltann_compiler.schedule.thread_tile import tile_convolution

Rule = Callable[[Any, Any], Any]
"""From a ``PrimFunc`` and the target to the schedule; None where it does not fit."""
Rules = Callable[[], Iterator[Rule]]

_WINDOW = 64
"""Sums of at most so many terms are one thread's work: to share them among threads costs more than to add them up."""


def schedule_gpu(module: Any, rules: Rules) -> Scheduled:
    """Schedule every kernel of a legalised module for the current target.

    Returns:
        The scheduled module. Here ``unscheduled`` are kernels that no rule fits, which TVM refuses to build.
    """
    import tvm
    from tvm import tirx

    done, target, tried = Scheduled(module), tvm.target.Target.current(), tuple(rules())
    for name, function in list(module.functions_items()):
        if not isinstance(function, tirx.PrimFunc):
            continue
        done.kernels += 1
        scheduled = next(filter(None, (_try(rule, function, target) for rule in tried)), None)
        if scheduled is None:
            done.unscheduled.append(name.name_hint)
        else:
            module[name] = scheduled.mod["main"].with_attr("tirx.is_scheduled", True)
    return done


def tiles_of_threads() -> Iterator[Rule]:
    """The standard schedule: a tile of a convolution's output in each thread's registers, products by blocks."""
    from tvm.s_tir.dlight import gpu

    yield tile_convolution
    yield _spread_windows
    for rule in (gpu.Matmul(), gpu.GEMV(), gpu.Reduction(), gpu.GeneralReduction(), gpu.Fallback()):
        yield lambda function, target, rule=rule: rule.apply(function, target, False)


def thread_per_element() -> Iterator[Rule]:
    """Plain loops: a thread for each element of what a kernel writes, and no more."""
    from tvm.s_tir.dlight import gpu

    yield lambda function, target: gpu.Fallback().apply(function, target, False)


def _try(rule: Rule, function: Any, target: Any) -> Any:
    """What a rule makes of a kernel; one that fails on it does not fit it."""
    try:
        found = rule(function, target)
    except Exception:
        traceback.print_exc()
        return None
    return found[0] if isinstance(found, list) else found


def _spread_windows(function: Any, target: Any) -> Any:
    """Pools and the like: a thread for each element of the output."""
    import tvm
    from tvm.s_tir import Schedule
    from tvm.s_tir.dlight import gpu

    sch = Schedule(tvm.IRModule({"main": function}))
    sums = [block for block in children(sch) if is_reduction(sch, block)]
    terms = [math.prod(extent(sch, loop) for loop in reductions(sch, block)) for block in sums]
    return gpu.Fallback().apply(function, target, False) if terms and max(terms) <= _WINDOW else None
