"""From IR to a shared library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deltann.kinds.device_code import DeviceCode
from deltann.targets import HOST, Needs
from deltann_compiler.cuda.kernels import compile_kernels
from deltann_compiler.levels import FAST_MATH_LEVEL, passes_of
from deltann_compiler.linking import check_code, link
from deltann_compiler.schedule import Scheduled, schedule_gpu, schedule_module, schedule_stages
from deltann_compiler.targets import lanes, needs_of, resolve

_FAST_MATH = "fast-math"


def lower(module: Any, level: int, target: dict[str, Any]) -> tuple[Scheduled, list[str]]:
    """Run a level's passes and schedule the kernels.

    Returns:
        The scheduled module, and the names of the passes that ran, in order.
    """
    import tvm

    names = []
    with tvm.target.Target(target):
        for one in passes_of(level):
            module = one.make()(module)
            names.append(one.name)
        if target["kind"] == "llvm":
            return schedule_module(module, lanes(target)), [*names, "CPUSchedule"]
        return schedule_gpu(module), [*names, "GPUSchedule"]


def target_of_level(target: dict[str, Any], level: int) -> dict[str, Any]:
    """The target with what a level asks of LLVM."""
    return {**target, _FAST_MATH: True} if level >= FAST_MATH_LEVEL and target["kind"] == "llvm" else target


def export(module: Any, target: dict[str, Any], path: Path, needs: Needs) -> DeviceCode | None:
    """Compile a lowered module into a shared library with its parameters inside.

    Returns:
        For CUDA, the machine code of its kernels.

    Raises:
        JobFailure: ``compile_failed`` where TVM makes no code for the device, or CUDA's compiler refuses a kernel.
        WorkError: where this host has no compiler that links for the module's processor.
    """
    import tvm

    built = tvm.compile(module, tvm.target.Target(target))
    check_code(built.mod, needs)
    code, pack = compile_kernels(built, needs.arch) if needs.runtime == "cuda" else (None, None)
    link(built, path, needs, pack)
    return code


def build_plain(module: Any, folder: Path) -> Path:
    """The library of an unoptimised module for this host: lowered operator by operator, in the layout of the source.

    Every kernel keeps its stages and their order; only the loops of each are spread over threads and vectors, and with
    that a ResNet-101 takes 1.4 s an input instead of 9 s.
    """
    import tvm
    from tvm import relax

    target = resolve(HOST)
    with tvm.target.Target(target):
        lowered = relax.transform.LegalizeOps()(relax.transform.DecomposeOpsForInference()(module))
        looped = schedule_module(lowered, lanes(target), schedule_stages)
    path = folder / "plain.so"
    export(looped.module, target, path, needs_of(HOST, target))
    return path


def telling_line(error: Exception) -> str:
    """The line of a TVM error that says something: the last, under its own traceback, else the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "Error" in line or "not supported" in line.lower()]
    return (telling or lines or [type(error).__name__])[-1][:300]
