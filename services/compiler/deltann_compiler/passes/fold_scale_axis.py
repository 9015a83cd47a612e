"""Scales behind a convolution go into its weights: Relax has this only for a batch norm right behind one without bias.

A batch norm that became arithmetic, or one behind a bias, is a chain of sums and products with one constant a channel:
whatever its length, it is ``conv · scale + shift``, which is a convolution with other weights and one sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.relax import PyExprMutator, expr_functor
from tvm.relax.analysis import udchain

from deltann_compiler.passes.constants import tensor_of

_SUMS, _PRODUCTS = ("relax.add", "relax.subtract"), ("relax.multiply", "relax.divide")
_COMMUTE = ("relax.add", "relax.multiply")


@dataclass(frozen=True)
class Affine:
    """``conv · scale + shift``, with one of each for every channel of the convolution."""

    conv: Any
    scale: np.ndarray
    shift: np.ndarray
    scaled: bool = False

    def then(self, name: str, value: np.ndarray) -> Affine:
        """With one operator more behind it."""
        if name in _SUMS:
            shift = self.shift + value if name == "relax.add" else self.shift - value
            return Affine(self.conv, self.scale, shift, self.scaled)
        factor = value if name == "relax.multiply" else 1 / value
        return Affine(self.conv, self.scale * factor, self.shift * factor, True)


@expr_functor.mutator
class _Folder(PyExprMutator):
    def __init__(self, mod: Any, function: Any) -> None:
        super().__init__(mod)
        blocks = [block for block in function.body.blocks if isinstance(block, relax.DataflowBlock)]
        self._values = {bind.var: bind.value for block in blocks for bind in block.bindings}
        self._uses = {var: len(users) for block in blocks for var, users in udchain(block).items()}

    def visit_call_(self, call: Any) -> Any:
        chain = self._chain(call)
        if chain is None or not chain.scaled:
            return super().visit_call_(call)
        weights, attrs = tensor_of(chain.conv.args[1]), chain.conv.attrs
        assert weights is not None, "a chain begins with constant weights"
        wide = [1] * weights.ndim
        wide[str(attrs.kernel_layout).index("O")] = -1
        operands = [self.visit_expr(chain.conv.args[0]), relax.const(weights * chain.scale.reshape(wide))]
        conv = self.builder_.emit(relax.Call(chain.conv.op, operands, attrs))
        return relax.op.add(conv, relax.const(chain.shift.reshape(_per_channel(chain.conv))))

    def _chain(self, call: Any) -> Affine | None:
        """What a call is, if it is a convolution with constant weights and sums and products behind it."""
        name = call.op.name if isinstance(call.op, tvm.ir.Op) else ""
        if name == "relax.nn.conv2d":
            return _bare(call)
        if name not in (*_SUMS, *_PRODUCTS):
            return None
        operand, constant = call.args
        if tensor_of(operand) is not None and name in _COMMUTE:
            operand, constant = constant, operand
        value = tensor_of(constant)
        inner = self._values.get(operand) if isinstance(operand, relax.Var) else None
        if value is None or not isinstance(inner, relax.Call) or self._uses[operand] != 1:
            return None
        before = self._chain(inner)
        each = None if before is None else _vector(before.conv, value)
        return None if before is None or each is None else before.then(name, each)


def _bare(conv: Any) -> Affine | None:
    weights = tensor_of(conv.args[1])
    if weights is None or weights.dtype != np.float32:
        return None
    channels = int(np.prod(_per_channel(conv)))
    return Affine(conv, np.ones(channels, np.float32), np.zeros(channels, np.float32))


def _per_channel(conv: Any) -> list[int]:
    """The shape of what has one number for each channel of a convolution's output."""
    at = str(conv.attrs.out_layout).index("C")
    return [int(side) if axis == at else 1 for axis, side in enumerate(conv.ty.shape)]


def _vector(conv: Any, value: np.ndarray) -> np.ndarray | None:
    """A constant operand as one number for each channel; None where it varies along another axis."""
    shape = _per_channel(conv)
    if value.ndim > len(shape) or value.dtype != np.float32:
        return None
    whole = value.reshape([1] * (len(shape) - value.ndim) + list(value.shape))
    fits = all(side in (1, wanted) for side, wanted in zip(whole.shape, shape, strict=True))
    return np.broadcast_to(whole, shape).reshape(-1) if fits else None


@tvm.transform.module_pass(opt_level=0, name="FoldScaleAxis")
class FoldScaleAxis:
    """``conv · scale + shift`` becomes a convolution with scaled weights, and a sum."""

    def transform_module(self, mod: Any, ctx: Any) -> Any:
        """Rewrite every Relax function, and drop the arithmetic that nothing reads any more."""
        for name, function in list(mod.functions_items()):
            if isinstance(function, relax.Function):
                folder = _Folder(mod, function)
                folder.builder_.update_func(name, folder.visit_expr(function))
                mod = folder.builder_.get()
        return relax.transform.DeadCodeElimination(["main"])(mod)
