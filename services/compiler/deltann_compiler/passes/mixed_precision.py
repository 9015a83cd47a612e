"""Mixed precision: TVM's own pass for float16, and one of ours for bfloat16, which TVM's does not know.

TVM's pass fails on a kernel that a frontend wrote itself (a pad) where what it reads became float16. So each operand of
such a kernel is first converted to its own type, which the pass respects, and what converts nothing goes afterwards.
"""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax
from tvm.relax import PyExprMutator, expr_functor

WHOLE, BRAIN = "float32", "bfloat16"


def _name(call: Any) -> str:
    return str(call.op.name) if isinstance(call.op, tvm.ir.Op) else ""


@expr_functor.mutator
class _Shield(PyExprMutator):
    """Operands of kernels are converted to float32, which they are."""

    def visit_call_(self, call: Any) -> Any:
        call = super().visit_call_(call)
        if _name(call) != "relax.call_tir":
            return call
        given = call.args[1]
        operands = relax.Tuple([self._converted(one) for one in given.fields]) if hasattr(given, "fields") else given
        return relax.Call(call.op, [call.args[0], operands, *call.args[2:]], call.attrs, call.ty_args)

    def _converted(self, operand: Any) -> Any:
        whole = str(operand.ty.dtype) == WHOLE
        return self.builder_.emit(relax.op.astype(operand, WHOLE)) if whole else operand


@expr_functor.mutator
class _Tidy(PyExprMutator):
    """Conversions of a type to itself go."""

    def visit_call_(self, call: Any) -> Any:
        call = super().visit_call_(call)
        idle = _name(call) == "relax.astype" and str(call.args[0].ty.dtype) == str(call.attrs.dtype)
        return call.args[0] if idle else call


@expr_functor.mutator
class _Brain(PyExprMutator):
    """Convolutions and matrix products read bfloat16 and add up in float32; everything else stays float32."""

    def visit_call_(self, call: Any) -> Any:
        call = super().visit_call_(call)
        if _name(call) not in ("relax.nn.conv2d", "relax.matmul") or str(call.ty.dtype) != WHOLE:
            return call
        one, other = (self.builder_.emit(relax.op.astype(operand, BRAIN)) for operand in call.args)
        if _name(call) == "relax.matmul":
            return relax.op.matmul(one, other, out_dtype=WHOLE)
        at = call.attrs
        return relax.op.nn.conv2d(
            one,
            other,
            strides=list(at.strides),
            padding=list(at.padding),
            dilation=list(at.dilation),
            groups=at.groups,
            data_layout=at.data_layout,
            kernel_layout=at.kernel_layout,
            out_layout=at.out_layout,
            out_dtype=WHOLE,
        )


def _rewritten(mod: Any, mutator: Any) -> Any:
    for name, function in list(mod.functions_items()):
        if isinstance(function, relax.Function):
            mutator.builder_.update_func(name, mutator.visit_expr(function))
    return mutator.builder_.get()


@tvm.transform.module_pass(opt_level=0, name="MixedFloat16")
class MixedFloat16:
    """Convolutions, matrix products and what follows them in float16; sums, inputs and outputs in float32."""

    def transform_module(self, mod: Any, ctx: Any) -> Any:
        """Rewrite every Relax function."""
        mixed = relax.transform.ToMixedPrecision()(_rewritten(mod, _Shield(mod)))
        return _rewritten(mixed, _Tidy(mixed))


@tvm.transform.module_pass(opt_level=0, name="MixedBfloat16")
class MixedBfloat16:
    """Operands of convolutions and matrix products in bfloat16, everything else in float32."""

    def transform_module(self, mod: Any, ctx: Any) -> Any:
        """Rewrite every Relax function."""
        return _rewritten(mod, _Brain(mod))
