"""Operators on what a kernel stores."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from deltann_compiler.mutation.kernel.base import KernelOperator, Values, operator


class _Store(KernelOperator):
    """Another value is stored in the same place."""

    node = "BufferStore"

    def fits(self, node: Any, around: Any, values: Values) -> bool:
        """Stores of float32, but not of constants: these begin a sum or a maximum."""
        from tvm import tirx

        return str(node.buffer.dtype) == "float32" and not isinstance(node.value, tirx.FloatImm)

    def mutated(self, node: Any, values: Values) -> Any:
        """The store of the other value."""
        from tvm import tirx

        return tirx.BufferStore(node.buffer, self.value(node.value, values), node.indices)

    @abstractmethod
    def value(self, value: Any, values: Values) -> Any:
        """The other value."""


@operator("float32_to_float16", "float16")
@operator("float32_to_int32", "int32")
@operator("float32_to_int16", "int16")
@operator("float32_to_int8", "int8")
class CastStore(_Store):
    """Stored with the precision and range of another type; what is out of range is the device's to decide."""

    def __init__(self, dtype: str) -> None:
        self._dtype = dtype

    def value(self, value: Any, values: Values) -> Any:
        """There and back."""
        from tvm import tirx

        return tirx.Cast("float32", tirx.Cast(self._dtype, value))


@operator("subtract_from_store_value")
class SubtractFromStore(_Store):
    """A little less is stored."""

    def value(self, value: Any, values: Values) -> Any:
        """The difference, in float32."""
        from tvm import tirx

        return value - tirx.FloatImm("float32", values["offset"])

    def proven_equivalent(self, values: Values) -> str:
        """Nothing subtracted."""
        return "0 is subtracted" if np.float32(values["offset"]) == 0 else ""


@operator("multiply_store_value")
class MultiplyStore(_Store):
    """A little more is stored, if float32 can tell the factor from 1."""

    def value(self, value: Any, values: Values) -> Any:
        """The product, in float32."""
        from tvm import tirx

        return value * tirx.FloatImm("float32", values["factor"])

    def proven_equivalent(self, values: Values) -> str:
        """Half a unit in the last place of 1 is 6e-8: a factor nearer to 1 is 1."""
        factor = values["factor"]
        return f"{factor:.9g} is 1 in float32" if np.float32(factor) == 1 else ""
