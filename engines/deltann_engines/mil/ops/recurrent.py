"""``lstm`` and ``gru``, step by step, over [length, n, width]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from deltann_engines.mil.ops.elementwise import sigmoid

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sigmoid": sigmoid,
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, x.dtype.type(0)),
}


def _ordered(x: np.ndarray, direction: str) -> np.ndarray:
    if direction not in ("forward", "reverse"):
        raise ValueError(f"a recurrent operation that is {direction} is not what mil-reference has")
    return x if direction == "forward" else x[::-1]


def _said(states: list[np.ndarray], direction: str, output_sequence: Any) -> np.ndarray:
    if not bool(output_sequence):
        return states[-1][None]
    return np.stack(states if direction == "forward" else states[::-1])


def lstm(
    x: np.ndarray,
    initial_h: np.ndarray,
    initial_c: np.ndarray,
    weight_ih: np.ndarray,
    weight_hh: np.ndarray,
    bias: np.ndarray | None = None,
    peephole: np.ndarray | None = None,
    direction: str = "forward",
    output_sequence: Any = False,
    recurrent_activation: str = "sigmoid",
    cell_activation: str = "tanh",
    activation: str = "tanh",
    clip: Any = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gates in the order input, forget, output, cell.

    Args:
        x: [length, n, width].
        initial_h: [n, units].
        initial_c: [n, units].
        weight_ih: [4 units, width].
        weight_hh: [4 units, units].
        bias: [4 units].

    Returns:
        Outputs [length, n, units] (or [1, n, units]), last output, last cell state.
    """
    if peephole is not None or clip is not None:
        raise ValueError("an lstm with peepholes or clipping is not what mil-reference has")
    gate, inner, outer = (_FUNCTIONS[name] for name in (recurrent_activation, cell_activation, activation))
    given = x @ weight_ih.T if bias is None else x @ weight_ih.T + bias
    h, c, states = initial_h, initial_c, []
    for step in _ordered(given, direction):
        i, f, o, z = np.split(step + h @ weight_hh.T, 4, axis=-1)
        c = gate(f) * c + gate(i) * inner(z)
        h = gate(o) * outer(c)
        states.append(h)
    return _said(states, direction, output_sequence), h, c


def gru(
    x: np.ndarray,
    initial_h: np.ndarray,
    weight_ih: np.ndarray,
    weight_hh: np.ndarray,
    bias: np.ndarray | None = None,
    input_bias: np.ndarray | None = None,
    direction: str = "forward",
    output_sequence: Any = False,
    recurrent_activation: str = "sigmoid",
    activation: str = "tanh",
    reset_after: Any = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Gates in the order reset, output, update; h = (1 − z)·o + z·h.

    Args:
        x: [length, n, width].
        initial_h: [n, units].
        weight_ih: [3 units, width].
        weight_hh: [3 units, units].
        bias: [3 units], of the recurrent product.
        input_bias: [3 units], of the input's.

    Returns:
        Outputs [length, n, units] (or [1, n, units]), last output.
    """
    gate, inner = _FUNCTIONS[recurrent_activation], _FUNCTIONS[activation]
    zero = np.zeros(len(weight_hh), x.dtype)
    hr, ho, hz = np.split(weight_hh, 3)
    br, bo, bz = np.split(zero if bias is None else bias, 3)
    given = x @ weight_ih.T + (zero if input_bias is None else input_bias)
    h, states = initial_h, []
    for step in _ordered(given, direction):
        ir, io, iz = np.split(step, 3, axis=-1)
        r = gate(ir + h @ hr.T + br)
        z = gate(iz + h @ hz.T + bz)
        o = inner(io + r * (h @ ho.T + bo)) if bool(reset_after) else inner(io + (r * h) @ ho.T + bo)
        h = (1 - z) * o + z * h
        states.append(h)
    return _said(states, direction, output_sequence), h


OPS = {"lstm": lstm, "gru": gru}
