"""A MIL program evaluated operation by operation, in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from deltann_engines.mil.ops import OPS
from deltann_engines.mil.program import Operation, Program


class Unsupported(ValueError):  # noqa: N818  (a finding about the evaluator, not about the model)
    """An operation that the evaluator does not know: CoreML itself may."""


def check(program: Program) -> None:
    """Refuse a program with operations that are not in the table.

    Raises:
        Unsupported: naming them.
    """
    unknown = sorted({one.kind for one in program.operations} - OPS.keys())
    if unknown:
        raise Unsupported(
            f"unsupported: mil-reference, DeltaNN's evaluator, has no {', '.join(unknown)}; the package itself may be "
            "sound: run it with the engine coreml in a pool of macOS workers"
        )


def evaluate(program: Program, feed: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs by name.

    Args:
        program: to run.
        feed: an array for each input, by name.

    Raises:
        Unsupported: for an operation that is not in the table.
    """
    values: dict[str, Any] = {**program.constants, **feed}
    last = {name: index for index, one in enumerate(program.operations) for name in _names(one)}
    kept = {one.name for one in program.outputs}
    for index, operation in enumerate(program.operations):
        made = OPS[operation.kind](**{name: _taken(names, values) for name, names in operation.inputs.items()})
        results = made if isinstance(made, tuple) else (made,)
        values.update(zip(operation.outputs, results, strict=True))
        for name in _names(operation):
            if last[name] == index and name not in kept and name not in program.constants:
                values.pop(name, None)
    return {one.name: values[one.name] for one in program.outputs}


def _names(operation: Operation) -> list[str]:
    return [name for names in operation.inputs.values() for name in names]


def _taken(names: tuple[str, ...], values: Mapping[str, Any]) -> Any:
    """A value, or the list of those that a parameter takes several of (``concat``, ``stack``)."""
    return values[names[0]] if len(names) == 1 else [values[name] for name in names]
