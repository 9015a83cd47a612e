"""The schedule for devices with threads (OpenCL, CUDA): every kernel's loops are bound to blocks and threads."""

from __future__ import annotations

from typing import Any

from deltann_compiler.schedule.module import Scheduled


def schedule_gpu(module: Any) -> Scheduled:
    """Schedule every kernel of a legalised module for the current target.

    Returns:
        The scheduled module. Here ``unscheduled`` are kernels that no rule fits, which TVM refuses to build.
    """
    from tvm import tirx
    from tvm.s_tir import dlight

    gpu = dlight.gpu
    rules = (gpu.Matmul(), gpu.GEMV(), gpu.Reduction(), gpu.GeneralReduction(), gpu.Fallback())
    done = Scheduled(dlight.ApplyDefaultSchedule(*rules)(module))
    for name, function in done.module.functions_items():
        if isinstance(function, tirx.PrimFunc):
            done.kernels += 1
            if "tirx.is_scheduled" not in (function.attrs or {}):
                done.unscheduled.append(name.name_hint)
    return done
