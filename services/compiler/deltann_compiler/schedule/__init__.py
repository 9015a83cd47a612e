"""The schedules: how each kernel's loops are tiled and spread over what a device has. No tuning, no search."""

from deltann_compiler.schedule.gpu import schedule_gpu, thread_per_element, tiles_of_threads
from deltann_compiler.schedule.kernel import schedule_kernel, schedule_stages
from deltann_compiler.schedule.module import Scheduled, schedule_module

__all__ = [
    "Scheduled",
    "schedule_gpu",
    "schedule_kernel",
    "schedule_module",
    "schedule_stages",
    "thread_per_element",
    "tiles_of_threads",
]
