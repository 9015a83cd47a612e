"""Sigmoid and its kin in arithmetic that vectorises.

LLVM turns a vector of exp into as many calls of libm, which makes a network of SiLUs more than twice as slow. Inference
libraries use a polynomial instead; so does the schedule here, at every level.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

_LARGEST = 88.0
"""exp of this is finite in float32. Sigmoid must not pass through infinity, which fast-math takes never to occur:
it gave NaN for inputs below −88 at level 4."""

_LOG2E = math.log2(math.e)
_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440054690583e-4
"""ln 2 in two parts, the first with few enough bits that its multiples are exact (Cody and Waite)."""

_TAYLOR = tuple(1 / math.factorial(power) for power in range(8))
_MANTISSA_BITS, _BIAS = 23, 127


def _let(value: Any, body: Callable[[Any], Any]) -> Any:
    """Name a value, so that it is written once however often it is used."""
    from tvm import tirx

    name = tirx.Var("v", value.ty)
    return tirx.Let(name, value, body(name))


def exp(x: Any) -> Any:
    """exp of a float32 expression in [−88, 88], within 3e-7 relative: 2ⁿ · e^f with |f| ≤ ln 2 / 2."""
    from tvm import tirx

    def scaled(n: Any) -> Any:
        f = x - n * tirx.const(_LN2_HIGH, "float32") - n * tirx.const(_LN2_LOW, "float32")
        power = tirx.reinterpret("float32", (n.astype("int32") + _BIAS) << _MANTISSA_BITS)
        return _let(f, lambda part: _polynomial(part) * power)

    return _let(tirx.floor(x * tirx.const(_LOG2E, "float32") + tirx.const(0.5, "float32")), scaled)


def _polynomial(f: Any) -> Any:
    from tvm import tirx

    value = tirx.const(_TAYLOR[-1], "float32")
    for factor in reversed(_TAYLOR[:-1]):
        value = value * f + tirx.const(factor, "float32")
    return value


def sigmoid(x: Any) -> Any:
    """1 / (1 + e^−x) of a float32 expression. NaN stays NaN: a comparison with it is false, so it is not clamped."""
    from tvm import tirx

    one, limit = tirx.const(1.0, "float32"), tirx.const(_LARGEST, "float32")

    def clamped(negative: Any) -> Any:
        below = tirx.Select(negative < -limit, -limit, negative)
        return _let(tirx.Select(negative > limit, limit, below), lambda value: one / (one + exp(value)))

    return _let(-x, clamped)


def _rule(name: str, scalar: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """A legaliser that writes float32 kernels by ``scalar``, and leaves other types to TVM's own formula."""

    def legalise_call(builder: Any, call: Any) -> Any:
        from tvm import te, topi

        def vectors(x: Any) -> Any:
            return te.compute(x.shape, lambda *at: scalar(x(*at)), name=name, tag="elemwise")

        def plain(x: Any) -> Any:
            return x * topi.sigmoid(x) if name == "silu" else topi.sigmoid(x)

        kernel = vectors if str(call.args[0].ty.dtype) == "float32" else plain
        return builder.call_te(kernel, call.args[0], primfunc_name_hint=name)

    return legalise_call


def rules() -> dict[str, Callable[[Any, Any], Any]]:
    """Legalisers by operator."""
    return {
        "relax.sigmoid": _rule("sigmoid", sigmoid),
        "relax.nn.silu": _rule("silu", lambda x: _let(x, lambda value: value * sigmoid(value))),
    }
