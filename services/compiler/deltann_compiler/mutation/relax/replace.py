"""Operators that put one layer, or one sum, in place of another."""

from __future__ import annotations

from typing import Any

from tvm import relax

from deltann_compiler.mutation.relax.base import Emit, RelaxOperator, Values, floats, name_of, operator


@operator("relax_add_to_subtract", "relax.add", relax.op.subtract)
@operator("relax_multiply_to_add", "relax.multiply", relax.op.add)
@operator("relax_relu_to_sigmoid", "relax.nn.relu", relax.op.sigmoid)
@operator("relax_relu_to_tanh", "relax.nn.relu", relax.op.tanh)
class Replaced(RelaxOperator):
    """Another function of the same arguments."""

    def __init__(self, before: str, after: Any) -> None:
        self._before, self._after = before, after

    def fits(self, call: Any) -> bool:
        """Calls of the one, on floats."""
        return name_of(call) == self._before and floats(call)

    def mutated(self, call: Any, values: Values, emit: Emit) -> Any:
        """The call of the other."""
        return self._after(*call.args)


_WINDOW = ("pool_size", "strides", "padding", "dilation", "ceil_mode", "count_include_pad", "layout", "out_layout")


@operator("relax_max_pool_to_average_pool", "relax.nn.max_pool2d", relax.op.nn.avg_pool2d)
@operator("relax_average_pool_to_max_pool", "relax.nn.avg_pool2d", relax.op.nn.max_pool2d)
class ReplacedPool(Replaced):
    """Another pool over the same windows."""

    def mutated(self, call: Any, values: Values, emit: Emit) -> Any:
        """The other pool; a mean does not count what pads."""
        window = {name: getattr(call.attrs, name) for name in _WINDOW}
        return self._after(call.args[0], **window | {"count_include_pad": False})
