"""What gives every kernel its loops after all passes, by schedule and kind of target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from deltann_compiler.schedule import (
    Scheduled,
    schedule_gpu,
    schedule_kernel,
    schedule_module,
    schedule_stages,
    thread_per_element,
    tiles_of_threads,
)
from deltann_compiler.targets import PROCESSORS, lanes


@dataclass(frozen=True)
class Loops:
    """How the loops of a lowered module are laid out: the name that stands among the passes, and what does it.

    ``give`` is called with the target current.
    """

    name: str
    give: Callable[[Any], Scheduled]


_ON_PROCESSORS = {
    "standard": Loops("CPUSchedule", lambda module: schedule_module(module, lanes(), schedule_kernel)),
    "naive": Loops("PlainLoops", lambda module: schedule_module(module, lanes(), schedule_stages)),
}
_ON_DEVICES = {
    "standard": Loops("GPUSchedule", lambda module: schedule_gpu(module, tiles_of_threads)),
    "naive": Loops("ThreadPerElement", lambda module: schedule_gpu(module, thread_per_element)),
}
SCHEDULES = tuple(_ON_PROCESSORS)


def loops_of(schedule: str, kind: str) -> Loops:
    """The loops of a schedule on targets of a kind."""
    return (_ON_PROCESSORS if kind in PROCESSORS else _ON_DEVICES)[schedule]
