"""Operators on whole layers and their hyperparameters."""

from __future__ import annotations

from typing import Any

from tvm import relax

from deltann_compiler.mutation.relax.base import (
    CONV,
    DENSE,
    NORM,
    Emit,
    RelaxOperator,
    Values,
    floats,
    name_of,
    operator,
    sides,
)

_LAYERS = (
    CONV, DENSE, "relax.nn.max_pool2d", "relax.nn.avg_pool2d", "relax.nn.relu", "relax.nn.leakyrelu", "relax.nn.gelu",
    "relax.nn.silu", "relax.nn.softmax", "relax.sigmoid", "relax.tanh", "relax.clip",
)  # fmt: skip


@operator("relax_drop_layer")
class DropLayer(RelaxOperator):
    """A layer is left out."""

    def fits(self, call: Any) -> bool:
        """Layers whose output has the type of their input."""
        if name_of(call) not in _LAYERS or not floats(call):
            return False
        data = call.args[0]
        return sides(call) == sides(data) and str(call.ty.dtype) == str(data.ty.dtype)

    def mutated(self, call: Any, values: Values, emit: Emit) -> Any:
        """What it reads."""
        return call.args[0]


@operator("relax_change_epsilon")
class ChangeEpsilon(RelaxOperator):
    """Another epsilon."""

    def fits(self, call: Any) -> bool:
        """Batch norms."""
        return name_of(call) == NORM

    def mutated(self, call: Any, values: Values, emit: Emit) -> Any:
        """The batch norm with the other."""
        at = call.attrs
        return relax.op.nn.batch_norm(
            *call.args,
            axis=int(at.axis),
            epsilon=values["epsilon"],
            center=bool(at.center),
            scale=bool(at.scale),
            momentum=float(at.momentum),
            training=bool(at.training),
        )
