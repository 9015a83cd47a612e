"""From operators to kernels where LLVM compiles them: TVM's own, and ours where these are faster."""

from __future__ import annotations

from typing import Any

from deltann_compiler.passes import implicit_gemm, vector_math
from deltann_compiler.targets import lanes


def legalise() -> Any:
    """TVM's LegalizeOps for the current target, with our kernels in place of its own."""
    import tvm
    from tvm import relax

    rules = vector_math.rules()
    for name, ours in (("relax.nn.conv2d", implicit_gemm.conv2d), ("relax.matmul", implicit_gemm.matmul)):
        rules[name] = ours(lanes(), tvm.ir.Op.get(name).get_attr("FLegalize"))
    return relax.transform.LegalizeOps(rules)
