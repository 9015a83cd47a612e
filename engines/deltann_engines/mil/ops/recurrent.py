"""``lstm``, step by step, over [length, n, width]. coremltools writes a GRU as a loop of simpler operations."""

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


OPS = {"lstm": lstm}
