"""Parallel convolutions of one input become one: Relax combines only matrix products.

As Relay's CombineParallelConv2D: at least three branches, alike in everything but their weights and number of channels,
are one convolution whose output is cut apart again. Each branch's cut fuses with what follows it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.relax import PyExprMutator, expr_functor

from deltann_compiler.passes.constants import tensor_of

BRANCHES = 3
"""Fewer are not worth cutting apart: Relay's default."""

_ATTRIBUTES = ("strides", "padding", "dilation", "data_layout", "kernel_layout", "out_layout", "out_dtype")


@dataclass
class Group:
    """Convolutions of one input, in order, and the combined one once it is emitted."""

    calls: list[Any] = field(default_factory=list)
    combined: Any = None

    @property
    def axis(self) -> int:
        """The axis of the weights along which they are put together."""
        return str(self.calls[0].attrs.kernel_layout).index("O")

    def weights(self) -> np.ndarray:
        """Of all branches, one behind the other."""
        return np.concatenate([tensor_of(call.args[1]) for call in self.calls], axis=self.axis)

    def slices(self) -> list[tuple[int, int]]:
        """First and last channel of each branch in the combined output."""
        ends = [0, *accumulate(int(call.args[1].ty.shape[self.axis]) for call in self.calls)]
        return list(pairwise(ends))


@expr_functor.mutator
class _Combiner(PyExprMutator):
    def __init__(self, mod: Any, groups: list[Group]) -> None:
        super().__init__(mod)
        self._places = {call: (group, place) for group in groups for place, call in enumerate(group.calls)}

    def visit_call_(self, call: Any) -> Any:
        if call not in self._places:
            return super().visit_call_(call)
        group, place = self._places[call]
        if group.combined is None:  # the first of them: all read what it reads, so all can be computed here
            operands = [self.visit_expr(call.args[0]), relax.const(group.weights())]
            group.combined = self.builder_.emit(relax.Call(call.op, operands, call.attrs))
        first, end = group.slices()[place]
        channels = str(call.attrs.out_layout).index("C")
        return relax.op.strided_slice(group.combined, [channels], [first], [end], assume_inbound=True)


def _groups(function: Any) -> Iterator[Group]:
    """The convolutions that can be one."""
    found: dict[Any, Group] = defaultdict(Group)
    for block in function.body.blocks:
        if not isinstance(block, relax.DataflowBlock):
            continue
        for binding in block.bindings:
            if (key := _alike(binding.value)) is not None:
                found[block, key].calls.append(binding.value)
    yield from (group for group in found.values() if len(group.calls) >= BRANCHES)


def _alike(call: Any) -> Any:
    """What has to be the same for two convolutions to be one; None for what is no such convolution."""
    if not isinstance(call, relax.Call) or not isinstance(call.op, tvm.ir.Op) or call.op.name != "relax.nn.conv2d":
        return None
    data, weights = call.args[0], tensor_of(call.args[1])
    if int(call.attrs.groups) != 1 or not isinstance(data, relax.Var) or weights is None:
        return None
    sides = [side for axis, side in zip(str(call.attrs.kernel_layout), weights.shape, strict=True) if axis != "O"]
    return data, str(weights.dtype), tuple(sides), tuple(str(getattr(call.attrs, name)) for name in _ATTRIBUTES)


@tvm.transform.module_pass(opt_level=0, name="CombineParallelConv2D")
class CombineParallelConv2D:
    """Three or more convolutions of one input, alike but for their weights, become one and are cut apart again."""

    def transform_module(self, mod: Any, ctx: Any) -> Any:
        """Rewrite every Relax function."""
        for name, function in list(mod.functions_items()):
            if isinstance(function, relax.Function) and (groups := list(_groups(function))):
                combiner = _Combiner(mod, groups)
                combiner.builder_.update_func(name, combiner.visit_expr(function))
                mod = combiner.builder_.get()
        return mod
