"""Operators around which ConvertLayout would put a pair of transposes, in terms that it knows.

ONNX Clip (ReLU6) arrives as opaque calls of minimum and maximum kernels, and that of PyTorch and TFLite as
``relax.clip``, which has no rule for layouts: all of them become ``relax.minimum`` and ``relax.maximum``.
"""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax
from tvm.relax import PyExprMutator, expr_functor

_NAMES = ("maximum", "minimum")


@expr_functor.mutator
class _Restorer(PyExprMutator):
    def visit_call_(self, call: Any) -> Any:
        call = super().visit_call_(call)
        name = call.op.name if isinstance(call.op, tvm.ir.Op) else ""
        if name == "relax.clip":
            x, least, most = call.args
            dtype = str(x.ty.dtype)
            below = self.builder_.emit(relax.op.minimum(x, relax.const(most.value, dtype)))
            return relax.op.maximum(below, relax.const(least.value, dtype))
        if name == "relax.call_tir":
            kernel = call.args[0].name_hint.rstrip("0123456789")
            given = call.args[1]
            operands = list(given.fields) if hasattr(given, "fields") else [given]
            if kernel in _NAMES and len(operands) == 2:
                return getattr(relax.op, kernel)(*operands)
        return call


@tvm.transform.module_pass(opt_level=0, name="RestoreOps")
class RestoreOps:
    """Clips, and calls of minimum and maximum kernels, become ``relax.minimum`` and ``relax.maximum``."""

    def transform_module(self, mod: Any, ctx: Any) -> Any:
        """Rewrite every Relax function, and drop the kernels that nothing calls any more."""
        restorer = _Restorer(mod)
        for name, function in list(mod.functions_items()):
            if isinstance(function, relax.Function):
                restorer.builder_.update_func(name, restorer.visit_expr(function))
        return relax.transform.DeadCodeElimination(["main"])(restorer.builder_.get())
