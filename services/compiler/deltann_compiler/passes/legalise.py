"""From operators to kernels: TVM's own, and ours where these are faster."""

from __future__ import annotations

from typing import Any

from deltann_compiler.passes import implicit_gemm, vector_math


def legalise() -> Any:
    """TVM's LegalizeOps for the current target; where LLVM compiles it, with our kernels in place of its own."""
    import tvm
    from tvm import relax

    from deltann_compiler.targets import current_lanes

    target = tvm.target.Target.current()
    if target is None or target.kind.name != "llvm":
        return relax.transform.LegalizeOps()
    rules = vector_math.rules()
    for name, ours in (("relax.nn.conv2d", implicit_gemm.conv2d), ("relax.matmul", implicit_gemm.matmul)):
        rules[name] = ours(current_lanes(), tvm.ir.Op.get(name).get_attr("FLegalize"))
    return relax.transform.LegalizeOps(rules)
