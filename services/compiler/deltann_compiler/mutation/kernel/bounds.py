"""Is every access of a kernel within its buffer? Proven for each index, or the kernel is not shown to be safe.

Every loop variable has its loop's range. A block's axis has its declared domain, and what is bound to it has to be
shown to lie in that domain under the block's predicate. Within a branch its condition holds, and a branch whose
condition never does is not looked at: in ``if_then_else`` and in statements; a ``Select`` computes both its sides. What
remains is, for each load and store and each of its axes, 0 ≤ index < side, which TVM's symbolic analyzer has to prove.
"""

from __future__ import annotations

from typing import Any

_BRANCH = "prim.if_then_else"


def unproven(function: Any) -> str | None:
    """The first access of a ``PrimFunc`` that is not proven to stay in its buffer, in words; None where all are."""
    return _Walk().first(function)


def clamped(function: Any) -> Any:
    """The ``PrimFunc`` with the indices of all loads within a branch held between 0 and the last of each axis."""
    from tvm import ir, tirx
    from tvm_ffi import structural_map

    def hold(load: Any) -> Any:
        sides = load.source.ty.shape
        held = [tirx.max(tirx.min(index, side - 1), 0) for index, side in zip(load.indices, sides, strict=True)]
        return tirx.BufferLoad(load.source, held)

    def branch(call: Any) -> Any:
        if getattr(call.op, "name", "") != _BRANCH:
            return call
        condition, *values = call.args
        return tirx.if_then_else(condition, *(structural_map(value, (ir.TensorLoad, hold)) for value in values))

    return function.with_body(structural_map(function.body, (ir.Call, branch)))


class _Walk:
    def __init__(self) -> None:
        from tvm.sym import Analyzer

        self._analyzer = Analyzer()
        self._found: list[str] = []

    def first(self, function: Any) -> str | None:
        from tvm import ir, tirx
        from tvm.s_tir import SBlockRealize
        from tvm_ffi import structural_visit

        structural_visit(
            function.body,
            [
                (tirx.For, self._loop),
                (SBlockRealize, self._block),
                (tirx.IfThenElse, self._branch),
                (ir.Call, self._call),
                (ir.TensorLoad, self._load),
                (tirx.BufferStore, self._store),
            ],
        )
        return self._found[0] if self._found else None

    def _loop(self, loop: Any, visitor: Any) -> None:
        from tvm import ir

        self._analyzer.bind(loop.loop_var, ir.Range.from_min_extent(loop.min, loop.extent), True)
        visitor.visit(loop.body)

    def _block(self, realize: Any, visitor: Any) -> None:
        block = realize.block
        visitor.visit(realize.predicate)
        # A tail's predicate multiplies out otherwise than what is bound: in one canonical form both are one sum.
        canonical = self._analyzer.canonical_simplify(realize.predicate)
        with self._analyzer.constraint_scope(realize.predicate), self._analyzer.constraint_scope(canonical):
            for axis, value in zip(block.iter_vars, realize.iter_values, strict=True):
                self._within(value, axis.dom.min, axis.dom.extent, f"axis {axis.var.name}")
        for axis in block.iter_vars:
            self._analyzer.bind(axis.var, axis.dom, True)
        if block.init is not None:
            visitor.visit(block.init)
        visitor.visit(block.body)

    def _branch(self, branch: Any, visitor: Any) -> None:
        from tvm import tirx

        visitor.visit(branch.condition)
        self._under(branch.condition, branch.then_case, visitor)
        if branch.else_case is not None:
            self._under(tirx.Not(branch.condition), branch.else_case, visitor)

    def _call(self, call: Any, visitor: Any) -> None:
        from tvm import tirx

        if getattr(call.op, "name", "") != _BRANCH:
            visitor.default_visit(call)
            return
        condition, yes, no = call.args
        visitor.visit(condition)
        self._under(condition, yes, visitor)
        self._under(tirx.Not(condition), no, visitor)

    def _under(self, condition: Any, then: Any, visitor: Any) -> None:
        from tvm import tirx

        if self._analyzer.can_prove(tirx.Not(condition)):
            return
        with self._analyzer.constraint_scope(condition):
            visitor.visit(then)

    def _load(self, load: Any, visitor: Any) -> None:
        self._access(load.source, load.indices, visitor)

    def _store(self, store: Any, visitor: Any) -> None:
        self._access(store.buffer, store.indices, visitor)
        visitor.visit(store.value)

    def _access(self, buffer: Any, indices: Any, visitor: Any) -> None:
        for place, (index, side) in enumerate(zip(indices, buffer.ty.shape, strict=True)):
            self._within(index, 0, side, f"{buffer.name}, axis {place}")
            visitor.visit(index)

    def _within(self, index: Any, least: Any, extent: Any, where: str) -> None:
        prove = self._analyzer.can_prove
        forms = (index, self._analyzer.canonical_simplify(index))
        if not any(prove(form >= least) and prove(form < least + extent) for form in forms):
            self._found.append(f"{index} may leave 0 to {extent} − 1 of {where}")
