"""Scheduling of a whole module: every kernel by its family."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from typing import Any

from deltann_compiler.schedule.kernel import schedule_kernel


@dataclass
class Scheduled:
    """What became of a module's kernels: how many there are, and which kept their plain loops."""

    module: Any
    kernels: int = 0
    unscheduled: list[str] = field(default_factory=list)


def schedule_module(module: Any, lanes: int) -> Scheduled:
    """Schedule every kernel of a legalised module.

    Args:
        module: IRModule after LegalizeOps.
        lanes: float32 lanes of the target's vectors.

    Returns:
        The scheduled module. A kernel that a schedule does not fit keeps its loops, is correct, and is named.
    """
    from tvm import tirx

    done = Scheduled(module)
    for name, function in list(module.functions_items()):
        if not isinstance(function, tirx.PrimFunc):
            continue
        done.kernels += 1
        try:
            module[name] = schedule_kernel(function, lanes).with_attr("tirx.is_scheduled", True)
        except Exception:
            traceback.print_exc()
            done.unscheduled.append(name.name_hint)
    return done
