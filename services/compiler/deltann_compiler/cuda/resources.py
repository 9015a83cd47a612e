"""What ptxas says about the kernels that it made (its option -v)."""

from __future__ import annotations

import re

from deltann.kinds.device_code import KernelResources

_KERNEL = re.compile(
    r"Compiling entry function '(?P<name>[^']+)'.*?"
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads.*?"
    r"Used (?P<registers>\d+) registers(?P<rest>[^\n]*)",
    re.DOTALL,
)
_SHARED = re.compile(r"(\d+)(?:\+\d+)? bytes smem")


def kernels_of(log: str) -> tuple[KernelResources, ...]:
    """The kernels of a log, in its order."""
    return tuple(_kernel(found) for found in _KERNEL.finditer(log))


def _kernel(found: re.Match[str]) -> KernelResources:
    shared = _SHARED.search(found["rest"])
    return KernelResources(
        name=found["name"],
        registers=int(found["registers"]),
        shared_bytes=int(shared[1]) if shared else 0,
        stack_bytes=int(found["stack"]),
        spill_store_bytes=int(found["stores"]),
        spill_load_bytes=int(found["loads"]),
    )
