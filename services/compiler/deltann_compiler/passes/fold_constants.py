"""Constant folding with NumPy: TVM's own FoldConstant compiles one function per constant, which takes a minute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.relax import PyExprMutator, expr_functor

from deltann_compiler.passes.constants import tensor_of

Fold = Callable[..., np.ndarray]


def _axes(call: Any) -> list[int] | None:
    return None if call.attrs.axes is None else [int(axis) for axis in call.attrs.axes]


def _dtype(call: Any) -> np.dtype[Any]:
    name = str(call.attrs.dtype)
    if name == "bfloat16":  # NumPy has none of its own
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


MOVES: dict[str, Fold] = {
    "relax.permute_dims": lambda call, x: np.transpose(x, _axes(call)),
    "relax.expand_dims": lambda call, x: np.expand_dims(x, tuple(int(axis) for axis in call.attrs.axis)),
    "relax.reshape": lambda call, x, _: x.reshape([int(side) for side in call.ty.shape]),
    "relax.astype": lambda call, x: x.astype(_dtype(call)),
}
"""Operators that only move values: folding them packs weights into the layout and type that kernels read."""

ALL: dict[str, Fold] = {
    **MOVES,
    "relax.add": lambda call, x, y: x + y,
    "relax.subtract": lambda call, x, y: x - y,
    "relax.multiply": lambda call, x, y: x * y,
    "relax.divide": lambda call, x, y: x / y,
    "relax.negative": lambda call, x: -x,
    "relax.sqrt": lambda call, x: np.sqrt(x),
    "relax.rsqrt": lambda call, x: 1 / np.sqrt(x),
    "relax.isnan": lambda call, x: np.isnan(x),
    "relax.where": lambda call, condition, x, y: np.where(condition, x, y),
}


@expr_functor.mutator
class _Folder(PyExprMutator):
    def __init__(self, mod: Any, operators: dict[str, Fold]) -> None:
        super().__init__(mod)
        self._operators = operators

    def _value(self, expr: Any) -> np.ndarray | None:
        if isinstance(expr, relax.Var):
            expr = self.lookup_binding(expr)
        held = getattr(expr, "value", None)
        return np.asarray(held, np.float32) if isinstance(held, float) else tensor_of(expr)

    def visit_call_(self, call: Any) -> Any:
        call = super().visit_call_(call)
        name = call.op.name if isinstance(call.op, tvm.ir.Op) else None
        if name not in self._operators:
            return call
        # A shape that is given as an operand is read off the result's type instead.
        values = [None if isinstance(arg, relax.ShapeExpr) else self._value(arg) for arg in call.args]
        wanted = [value for arg, value in zip(call.args, values, strict=True) if not isinstance(arg, relax.ShapeExpr)]
        if any(value is None for value in wanted):
            return call
        return relax.const(np.asarray(self._operators[name](call, *values), order="C"))


def _pass(name: str, operators: dict[str, Fold]) -> Any:
    @tvm.transform.module_pass(opt_level=0, name=name)
    def fold(mod: Any, ctx: Any) -> Any:
        folder = _Folder(mod, operators)
        for variable, function in list(mod.functions_items()):
            if isinstance(function, relax.Function):
                folder.builder_.update_func(variable, folder.visit_expr(function))
        return relax.transform.CanonicalizeBindings()(folder.builder_.get())

    return fold


def fold_constants() -> Any:
    """Fold every operator that is known here and has nothing but constants as operands."""
    return _pass("FoldConstant", ALL)


def pack_weights() -> Any:
    """Fold what only moves constants: part of the schedule, so it runs at every level."""
    return _pass("PackWeights", MOVES)
