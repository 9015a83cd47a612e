"""Operators that a frontend lowered too early.

ONNX Clip (ReLU6) arrives as opaque calls of minimum and maximum kernels, around each of which ConvertLayout would put a
pair of transposes: this turns them back into operators.
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
        if not isinstance(call.op, tvm.ir.Op) or call.op.name != "relax.call_tir":
            return call
        name = call.args[0].name_hint.rstrip("0123456789")
        given = call.args[1]
        operands = list(given.fields) if hasattr(given, "fields") else [given]
        if name in _NAMES and len(operands) == 2:
            return getattr(relax.op, name)(*operands)
        return call


@tvm.transform.module_pass(opt_level=0, name="RestoreOps")
class RestoreOps:
    """Calls of minimum and maximum kernels become ``relax.minimum`` and ``relax.maximum``."""

    def transform_module(self, mod: Any, ctx: Any) -> Any:
        """Rewrite every Relax function, and drop the kernels that nothing calls any more."""
        restorer = _Restorer(mod)
        for name, function in list(mod.functions_items()):
            if isinstance(function, relax.Function):
                restorer.builder_.update_func(name, restorer.visit_expr(function))
        return relax.transform.DeadCodeElimination(["main"])(restorer.builder_.get())
