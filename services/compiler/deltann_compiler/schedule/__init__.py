"""The schedules: how each kernel's loops are tiled and spread over what a device has. No tuning, no search."""

from deltann_compiler.schedule.gpu import schedule_gpu
from deltann_compiler.schedule.kernel import schedule_stages
from deltann_compiler.schedule.module import Scheduled, schedule_module

__all__ = ["Scheduled", "schedule_gpu", "schedule_module", "schedule_stages"]
