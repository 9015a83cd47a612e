"""Which precisions a target has the instructions for."""

from __future__ import annotations

from typing import Any

from deltann.errors import JobFailure
from deltann.outcome import Outcome

NEEDS: dict[str, tuple[str, ...]] = {"fp32": (), "fp16": ("f16c", "fullfp16", "neon"), "bf16": ("avx512bf16", "bf16")}
"""By precision: features of LLVM's processors, any of which is enough. Without, numbers would be converted by calls."""


def check_precision(precision: str, name: str, target: dict[str, Any]) -> None:
    """Refuse a precision that there is not, or that an LLVM target would have to emulate.

    Args:
        precision: as in a study.
        name: of the target, for the message.
        target: as TVM takes it.

    Raises:
        JobFailure: ``compile_failed``, with what is missing.
    """
    import tvm
    from tvm.target import codegen

    if precision not in NEEDS:
        asked = f"the precision {precision!r} is not built yet; {', '.join(NEEDS)} can be asked for"
        raise JobFailure(Outcome.COMPILE_FAILED, "compile", asked)
    if not NEEDS[precision] or target["kind"] != "llvm":
        return
    with tvm.target.Target(target):
        if any(codegen.target_has_features(feature) for feature in NEEDS[precision]):
            return
    raise JobFailure(
        Outcome.COMPILE_FAILED,
        "compile",
        f"The target {name} ({target['mcpu']}) has no {precision} instructions ({' or '.join(NEEDS[precision])}), and "
        f"emulated it would say nothing of such a device. Choose fp32, or a target that has them.",
    )
