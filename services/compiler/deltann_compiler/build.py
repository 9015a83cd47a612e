"""From IR to a shared library."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deltann.kinds.compile import CompileParams
from deltann.kinds.device_code import DeviceCode
from deltann.targets import HOST, Needs
from deltann.targets.needs import CPU
from deltann_compiler.cuda.kernels import compile_kernels
from deltann_compiler.levels import Pass, passes_of
from deltann_compiler.linking import check_code, link
from deltann_compiler.loops import loops_of
from deltann_compiler.reuse import Objects, build_reusing
from deltann_compiler.schedule import Scheduled
from deltann_compiler.targets import needs_of, resolve


def lower(module: Any, wanted: CompileParams, target: dict[str, Any]) -> tuple[Scheduled, list[str]]:
    """Run the passes that were asked for, and give the kernels their loops.

    Args:
        module: the IRModule of a frontend.
        wanted: level, single passes, schedule and precision.
        target: as TVM takes it.

    Returns:
        The scheduled module, and the names of the passes, in order: LLVM's own come last.
    """
    chosen = passes_of(wanted, target["kind"])
    names = [one.name for one in chosen]
    for _, changed in run_passes(module, chosen, target):
        module = changed
    end = sum(one.option is None for one in chosen)
    last = loops_of(wanted.schedule, target["kind"]).name
    return give_loops(module, wanted.schedule, target), [*names[:end], last, *names[end:]]


def run_passes(module: Any, chosen: tuple[Pass, ...], target: dict[str, Any]) -> Iterator[tuple[Pass, Any]]:
    """Each pass, and the module after it; the target's options change nothing here."""
    import tvm

    for one in chosen:
        if one.make is not None:
            with tvm.target.Target(target):
                module = one.make()(module)
        yield one, module


def give_loops(module: Any, schedule: str, target: dict[str, Any]) -> Scheduled:
    """Give every kernel of a lowered module the loops of a schedule."""
    import tvm

    with tvm.target.Target(target):
        return loops_of(schedule, target["kind"]).give(module)


def export(
    module: Any, target: dict[str, Any], path: Path, needs: Needs, objects: Objects | None = None
) -> DeviceCode | None:
    """Compile a lowered module into a shared library with its parameters inside.

    Args:
        module: the IRModule.
        target: as TVM takes it.
        path: of the library.
        needs: what it says that it needs.
        objects: kernels that are compiled already, which are used again and added to, on processors.

    Returns:
        For CUDA, the machine code of its kernels.

    Raises:
        JobFailure: ``compile_failed`` where TVM makes no code for the device, or CUDA's compiler refuses a kernel.
        WorkError: where this host has no compiler that links for the module's processor.
    """
    import tvm

    # What a caller gives, the virtual machine checks. That kernels checked all they are given again was three quarters
    # of the code of DenseNet121, whose concatenations read up to 25 tensors, and half of the time to compile it.
    with tvm.transform.PassContext(config={"tirx.disable_assert": True}):
        if objects is not None and needs.runtime == CPU:
            with tempfile.TemporaryDirectory() as folder:
                built, kernels = build_reusing(module, target, Path(folder), objects)
                link(built, path, needs, addons=kernels)
            return None
        built = tvm.compile(module, tvm.target.Target(target))
    check_code(built.mod, needs)
    code, pack = compile_kernels(built, needs.arch) if needs.runtime == "cuda" else (None, None)
    link(built, path, needs, pack)
    return code


def build_plain(module: Any, folder: Path, objects: Objects | None = None) -> Path:
    """The library of an unoptimised module for this host: level 0 with the naive schedule.

    Every kernel keeps its stages, their order and the layout of the source; only the loops of each are spread over
    threads and vectors, and with that a ResNet-101 takes 1.4 s an input instead of 9 s.
    """
    target, path = resolve(HOST), folder / "plain.so"
    lowered, _ = lower(module, CompileParams(level=0, schedule="naive"), target)
    export(lowered.module, target, path, needs_of(HOST, target), objects)
    return path


def telling_line(error: Exception) -> str:
    """The line of a TVM error that says something: the last, under its own traceback, else the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "Error" in line or "not supported" in line.lower()]
    return (telling or lines or [type(error).__name__])[-1][:300]
