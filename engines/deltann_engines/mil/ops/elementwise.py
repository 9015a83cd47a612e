"""Element by element, with NumPy's broadcasting, which is MIL's too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_TYPES = {
    "fp32": np.float32,
    "fp16": np.float16,
    "int32": np.int32,
    "int16": np.int16,
    "int8": np.int8,
    "bool": np.bool_,
}


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + e⁻ˣ), without overflow."""
    half: np.ndarray = np.tanh(x * x.dtype.type(0.5))
    result: np.ndarray = half * x.dtype.type(0.5) + x.dtype.type(0.5)
    return result


def _two(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda x, y: function(x, y)


def _one(function: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda x: function(x)


def _clip(x: np.ndarray, alpha: Any, beta: Any) -> np.ndarray:
    return np.clip(x, x.dtype.type(alpha), x.dtype.type(beta))


def _cast(x: np.ndarray, dtype: str) -> np.ndarray:
    return np.asarray(x).astype(_TYPES[dtype])


def _floor_div(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    result: np.ndarray = np.floor_divide(x, y)
    return result


def _real_div(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of integers, MIL gives the integer quotient."""
    if np.issubdtype(np.asarray(x).dtype, np.integer):
        return _floor_div(x, y)
    result: np.ndarray = np.divide(x, y)
    return result


OPS: dict[str, Callable[..., Any]] = {
    "add": _two(np.add),
    "sub": _two(np.subtract),
    "mul": _two(np.multiply),
    "maximum": _two(np.maximum),
    "minimum": _two(np.minimum),
    "pow": _two(np.power),
    "real_div": _real_div,
    "floor_div": _floor_div,
    "greater_equal": _two(np.greater_equal),
    "less": _two(np.less),
    "relu": _one(lambda x: np.maximum(x, x.dtype.type(0))),
    "relu6": _one(lambda x: np.clip(x, x.dtype.type(0), x.dtype.type(6))),
    "sigmoid": _one(sigmoid),
    "tanh": _one(np.tanh),
    "sqrt": _one(np.sqrt),
    "identity": _one(lambda x: x),
    "select": lambda cond, a, b: np.where(cond, a, b),
    "clip": _clip,
    "cast": _cast,
}
