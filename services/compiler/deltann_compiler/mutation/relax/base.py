"""What an operator on Relax graphs is, and where they are registered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import tvm

from deltann_compiler.mutation.registry import Registry

Values = Mapping[str, float]
Emit = Callable[[Any], Any]
"""Binds an expression to a variable ahead of the call that is mutated; the variable."""

CONV, DENSE, NORM = "relax.nn.conv2d", "relax.matmul", "relax.nn.batch_norm"


class RelaxOperator(ABC):
    """A mutation operator on the calls of a Relax function as a frontend made it, before any pass."""

    @abstractmethod
    def fits(self, call: Any) -> bool:
        """Whether a ``relax.Call`` is a place."""

    @abstractmethod
    def mutated(self, call: Any, values: Values, emit: Emit) -> Any:
        """What takes the call's place."""


REGISTERED: Registry[RelaxOperator] = Registry()
operator = REGISTERED.operator


def name_of(call: Any) -> str:
    """``relax.nn.relu``; empty for a call of a function or kernel."""
    return str(call.op.name) if isinstance(call.op, tvm.ir.Op) else ""


def sides(expr: Any) -> tuple[int, ...]:
    """The shape of a tensor; a side that is not known is 0."""
    return tuple(int(side) if isinstance(side, tvm.tirx.IntImm) else 0 for side in expr.ty.shape)


def floats(expr: Any) -> bool:
    """Whether it is a tensor of floats."""
    return str(getattr(expr.ty, "dtype", "")).startswith("float")


def with_input(call: Any, data: Any) -> Any:
    """The call with another input 0."""
    from tvm import relax

    return relax.Call(call.op, [data, *call.args[1:]], call.attrs, call.ty_args)
