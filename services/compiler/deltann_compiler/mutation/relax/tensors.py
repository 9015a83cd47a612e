"""Operators on what a layer reads or gives."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from tvm import relax

from deltann_compiler.mutation.relax.base import (
    CONV,
    DENSE,
    NORM,
    Emit,
    RelaxOperator,
    Values,
    name_of,
    operator,
    sides,
    with_input,
)


@operator("relax_exp_conv2d_dense_before", relax.op.exp, CONV, DENSE)
@operator("relax_round_conv2d_dense_before", relax.op.round, CONV, DENSE)
@operator("relax_exp_batch_norm_before", relax.op.exp, NORM)
class Inserted(RelaxOperator):
    """A function of each element, before it is read."""

    def __init__(self, function: Any, *layers: str) -> None:
        self._function, self._layers = function, layers

    def fits(self, call: Any) -> bool:
        """The layers."""
        return name_of(call) in self._layers

    def mutated(self, call: Any, values: Values, emit: Emit) -> Any:
        """The layer of what the function gives."""
        return with_input(call, emit(self._function(call.args[0])))


def _scaled(data: Any, values: Values) -> Any:
    return relax.op.multiply(data, relax.const(values["factor"], str(data.ty.dtype)))


@operator("relax_scale_conv2d_dense_before", CONV, DENSE)
@operator("relax_scale_batch_norm_before", NORM)
class ScaledBefore(RelaxOperator):
    """Multiplied before it is read."""

    def __init__(self, *layers: str) -> None:
        self._layers = layers

    def fits(self, call: Any) -> bool:
        """The layers."""
        return name_of(call) in self._layers

    def mutated(self, call: Any, values: Values, emit: Emit) -> Any:
        """The layer of the product."""
        return with_input(call, emit(_scaled(call.args[0], values)))


@operator("relax_scale_conv2d_dense_after")
class ScaledAfter(RelaxOperator):
    """Multiplied when it is computed."""

    def fits(self, call: Any) -> bool:
        """Convolutions and matrix products."""
        return name_of(call) in (CONV, DENSE)

    def mutated(self, call: Any, values: Values, emit: Emit) -> Any:
        """The product."""
        return _scaled(emit(call), values)


@operator("relax_transpose_conv2d_dense_before")
class Transposed(RelaxOperator):
    """Two axes exchanged before it is read: no shape changes."""

    def fits(self, call: Any) -> bool:
        """Convolutions and matrix products that read something with two equal sides."""
        return name_of(call) in (CONV, DENSE) and self._equal(call.args[0]) is not None

    def mutated(self, call: Any, values: Values, emit: Emit) -> Any:
        """The layer of the transpose."""
        data = call.args[0]
        axes = list(range(len(sides(data))))
        one, other = self._equal(data) or (0, 0)
        axes[one], axes[other] = other, one
        return with_input(call, emit(relax.op.permute_dims(data, axes)))

    @staticmethod
    def _equal(data: Any) -> tuple[int, int] | None:
        known = sides(data)
        return next(
            ((a, b) for a, b in combinations(range(len(known)), 2) if known[a] == known[b] and known[a] > 1), None
        )
