"""The CPU schedule: how each kernel's loops are tiled, vectorised and spread over threads. No tuning, no search."""

from deltann_compiler.schedule.kernel import schedule_kernel, schedule_stages
from deltann_compiler.schedule.module import Scheduled, schedule_module

__all__ = ["Scheduled", "schedule_kernel", "schedule_module", "schedule_stages"]
