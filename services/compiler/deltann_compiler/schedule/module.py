"""Scheduling of a whole module: every kernel by its family."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from deltann_compiler.schedule.kernel import schedule_kernel, schedule_stages


@dataclass
class Scheduled:
    """What became of a module's kernels: how many there are, and which kept their default loops."""

    module: Any
    kernels: int = 0
    unscheduled: list[str] = field(default_factory=list)


def schedule_module(module: Any, lanes: int, schedule: Callable[[Any, int], Any] = schedule_kernel) -> Scheduled:
    """Schedule every kernel of a legalised module.

    Args:
        module: IRModule after LegalizeOps.
        lanes: float32 lanes of the target's vectors.
        schedule: from a ``PrimFunc`` and the lanes to the scheduled one.

    Returns:
        The scheduled module. A kernel that the schedule does not fit is correct, has default loops, and is named.
    """
    from tvm import tirx

    done = Scheduled(module)
    for name, function in list(module.functions_items()):
        if not isinstance(function, tirx.PrimFunc):
            continue
        done.kernels += 1
        try:
            module[name] = schedule(function, lanes).with_attr("tirx.is_scheduled", True)
        except Exception:
            traceback.print_exc()
            done.unscheduled.append(name.name_hint)
            with contextlib.suppress(Exception):
                module[name] = schedule_stages(function, lanes).with_attr("tirx.is_scheduled", True)
    return done
