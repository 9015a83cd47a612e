"""Operators on the bounds of loops."""

from __future__ import annotations

from typing import Any

from deltann_compiler.mutation.kernel.base import KernelOperator, Values, operator
from deltann_compiler.schedule.blocks import REDUCTION


@operator("shorten_reduction")
class ShortenReduction(KernelOperator):
    """Fewer steps of a reduction: every element of the output is still written, from less.

    A shorter loop over the output would leave memory as it was found, and the answer to chance.
    """

    node = "For"

    def survey(self, function: Any) -> Any:
        """Loop variables that reduced axes are bound to, and those that others are."""
        from tvm import tirx
        from tvm.s_tir import SBlockRealize
        from tvm_ffi import structural_walk

        reduced: set[str] = set()
        others: set[str] = set()

        def note(block: Any) -> None:
            for axis, value in zip(block.block.iter_vars, block.iter_values, strict=True):
                variables: list[Any] = []
                structural_walk(value, (tirx.Var, variables.append))
                found = reduced if int(axis.iter_type) == REDUCTION else others
                found.update(map(_identity, variables))

        structural_walk(function, (SBlockRealize, note))
        return reduced - others

    def fits(self, node: Any, around: Any, values: Values) -> bool:
        """Serial and unrolled loops over reduced axes alone."""
        from tvm import tirx

        plain = int(node.kind) in (int(tirx.ForKind.SERIAL), int(tirx.ForKind.UNROLLED))
        if not plain or _identity(node.loop_var) not in around or not isinstance(node.extent, tirx.IntImm):
            return False
        return int(node.extent) > int(values["by"])

    def mutated(self, node: Any, values: Values) -> Any:
        """The loop with a smaller extent."""
        from tvm import tirx

        extent = tirx.IntImm(str(node.extent.ty.dtype), int(node.extent) - int(values["by"]))
        return tirx.For(node.loop_var, node.min, extent, node.kind, node.body, node.thread_binding, node.annotations)


def _identity(variable: Any) -> str:
    return f"{variable.name}@{hash(variable)}"
