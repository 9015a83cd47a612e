"""A named target as TVM takes it, and the width of its vectors."""

from __future__ import annotations

import os
from typing import Any

from deltann.errors import JobFailure
from deltann.outcome import Outcome
from deltann.targets import HOST, NAMES, TARGETS

_LANES = (("avx512f", 16), ("avx2", 8))
_DEFAULT_LANES = 4


def resolve(name: str) -> dict[str, Any]:
    """The TVM target of a name, as the dict that every result records.

    ``host`` asks LLVM for the processor: ``mcpu: native`` would be accepted, and silently mean a generic one.

    Raises:
        JobFailure: ``compile_failed`` for an unknown name.
    """
    if name == HOST:
        from tvm.target import codegen

        target: dict[str, Any] = {"kind": "llvm", "mcpu": codegen.llvm_get_system_cpu()}
    elif name in TARGETS:
        target = dict(TARGETS[name])
    else:
        raise JobFailure(
            Outcome.COMPILE_FAILED,
            "target",
            f"There is no target {name!r}; there are {', '.join(NAMES)}.",
        )
    return {**target, "num-cores": os.cpu_count() or 1}


def lanes(target: dict[str, Any]) -> int:
    """float32 lanes of a target's vectors: 16 with AVX-512, 8 with AVX2, 4 otherwise (SSE, NEON)."""
    import tvm

    with tvm.target.Target(target):
        return current_lanes()


def current_lanes() -> int:
    """The same for TVM's current target."""
    from tvm.target import codegen

    return next((count for feature, count in _LANES if codegen.target_has_features(feature)), _DEFAULT_LANES)
