"""Operators on comparisons. Those of whole numbers guard memory: see :mod:`deltann_compiler.mutation.kernel.bounds`."""

from __future__ import annotations

from typing import Any

from deltann_compiler.mutation.kernel.base import KernelOperator, Values, operator


class _Condition(KernelOperator):
    """A comparison that chooses between values.

    One that decides whether anything is stored is no place: what is not stored stays as memory was found, which leaves
    the answer to chance.
    """

    def survey(self, function: Any) -> Any:
        """Comparisons that decide on stores: predicates of blocks, conditions of statements."""
        from tvm import tirx
        from tvm.s_tir import SBlockRealize
        from tvm_ffi import structural_walk

        found: list[Any] = []
        compared = ((tirx.LT, tirx.LE, tirx.GT), found.append)
        structural_walk(
            function.body,
            [
                (SBlockRealize, lambda block: structural_walk(block.predicate, compared)),
                (tirx.IfThenElse, lambda branch: structural_walk(branch.condition, compared)),
            ],
        )
        return found

    def fits(self, node: Any, around: Any, values: Values) -> bool:
        """All others."""
        return not any(node.same_as(one) for one in around)


class _Comparison(_Condition):
    """Another comparison of the same two sides."""

    def __init__(self, before: str, after: str) -> None:
        self.node, self._after = before, after  # type: ignore[misc]

    def mutated(self, node: Any, values: Values) -> Any:
        """The other comparison."""
        from tvm import tirx

        return getattr(tirx, self._after)(node.a, node.b)


operator("ifstmt_LT_to_LE", "LT", "LE")(_Comparison)
operator("ifstmt_LT_to_GT", "LT", "GT")(_Comparison)
operator("ifstmt_LT_to_GE", "LT", "GE")(_Comparison)
operator("ifstmt_LE_to_LT", "LE", "LT")(_Comparison)
operator("ifstmt_GT_to_LT", "GT", "LT")(_Comparison)
operator("ifstmt_GT_to_GE", "GT", "GE")(_Comparison)


@operator("change_threshold_ite_LT_r_a_0_5")
class RaiseByHalf(_Condition):
    """a < b + 0.5. Of whole numbers that is a ≤ b, and is written so."""

    node = "LT"

    def mutated(self, node: Any, values: Values) -> Any:
        """The comparison with the raised bound."""
        from tvm import tirx

        kind = str(node.b.ty.dtype)
        if "float" in kind:
            return tirx.LT(node.a, node.b + tirx.FloatImm(kind, 0.5))
        return tirx.LE(node.a, node.b)


@operator("lower_LT_bound")
class LowerBound(_Condition):
    """a < b − by."""

    node = "LT"

    def mutated(self, node: Any, values: Values) -> Any:
        """The comparison with the lowered bound."""
        from tvm import tirx

        kind = str(node.b.ty.dtype)
        by = tirx.FloatImm(kind, values["by"]) if "float" in kind else tirx.IntImm(kind, int(values["by"]))
        return tirx.LT(node.a, node.b - by)
