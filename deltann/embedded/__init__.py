"""The embedded stack: Redis, workers and dispatcher on this machine, for as long as one command runs."""

from deltann.embedded.running import StackInfo, running_stack, stop_stack
from deltann.embedded.stack import EmbeddedStack
from deltann.embedded.workers import WorkerSpec, default_workers

__all__ = ["EmbeddedStack", "StackInfo", "WorkerSpec", "default_workers", "running_stack", "stop_stack"]
