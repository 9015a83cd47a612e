"""From IR to a shared library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deltann.kinds.compile import CompileParams
from deltann_compiler.levels import Pass, passes_of
from deltann_compiler.schedule import Scheduled, schedule_kernel, schedule_module, schedule_stages
from deltann_compiler.targets import lanes, resolve

LOOPS = {"standard": ("CPUSchedule", schedule_kernel), "naive": ("PlainLoops", schedule_stages)}
"""By schedule: what gives every kernel its loops after all passes, and its name."""


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
    return give_loops(module, wanted.schedule, target), [*names[:end], LOOPS[wanted.schedule][0], *names[end:]]


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

    _, loops = LOOPS[schedule]
    with tvm.target.Target(target):
        return schedule_module(module, lanes(target), loops)


def export(module: Any, target: dict[str, Any], path: Path) -> Path:
    """Compile a lowered module into a shared library with its parameters inside."""
    import tvm

    built = tvm.compile(module, tvm.target.Target(target))
    built.export_library(str(path))
    return path


def build_plain(module: Any, folder: Path) -> Path:
    """The library of an unoptimised module for this host: level 0 with the naive schedule.

    Every kernel keeps its stages, their order and the layout of the source; only the loops of each are spread over
    threads and vectors, and with that a ResNet-101 takes 1.4 s an input instead of 9 s.
    """
    target = resolve("host")
    lowered, _ = lower(module, CompileParams(level=0, schedule="naive"), target)
    return export(lowered.module, target, folder / "plain.so")


def telling_line(error: Exception) -> str:
    """The line of a TVM error that says something: the last, under its own traceback, else the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "Error" in line or "not supported" in line.lower()]
    return (telling or lines or [type(error).__name__])[-1][:300]
