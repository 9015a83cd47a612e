"""The embedded stack: Redis, workers and dispatcher on this machine, for as long as one command runs."""

from deltann.embedded.stack import EmbeddedStack, StackInfo, WorkerSpec, default_workers, running_stack, stop_stack

__all__ = ["EmbeddedStack", "StackInfo", "WorkerSpec", "default_workers", "running_stack", "stop_stack"]
