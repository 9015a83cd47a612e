"""A MIL program evaluated operation by operation, in NumPy."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from deltann.errors import UnsupportedError
from deltann_engines.mil.ops import OPS
from deltann_engines.mil.program import Operation, Program

_LOOP = "while_loop"
_KNOWN = OPS.keys() | {_LOOP}


def check(program: Program) -> None:
    """Refuse a program with operations that are not in the table.

    Raises:
        UnsupportedError: naming them.
    """
    unknown = sorted({one.kind for one in _every(program.operations)} - _KNOWN)
    if unknown:
        raise UnsupportedError(
            f"mil-reference, DeltaNN's evaluator, has no {', '.join(unknown)}; the package itself may be "
            "sound: run it with the engine coreml in a pool of macOS workers"
        )


def evaluate(program: Program, feed: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs by name.

    Args:
        program: to run; :func:`check` tells beforehand whether all of it is known.
        feed: an array for each input, by name.
    """
    values: dict[str, Any] = {**program.constants, **feed}
    kept = {*program.constants, *(one.name for one in program.outputs)}
    _run(program.operations, values, _release(program.operations, kept))
    return {one.name: values[one.name] for one in program.outputs}


def _every(operations: Sequence[Operation]) -> Iterator[Operation]:
    """Operations and those inside them."""
    for one in operations:
        yield one
        for block in one.blocks:
            yield from _every(block.operations)


def _release(operations: Sequence[Operation], kept: set[str]) -> dict[str, int]:
    """By value that is not ``kept``: the position of the last operation that takes it."""
    last = {name: index for index, outer in enumerate(operations) for one in _every([outer]) for name in _names(one)}
    return {name: index for name, index in last.items() if name not in kept}


def _run(operations: Sequence[Operation], values: MutableMapping[str, Any], last: Mapping[str, int]) -> None:
    """Add what operations give to ``values``, and let go of each value behind the ``last`` operation that takes it."""
    for index, operation in enumerate(operations):
        if operation.kind == _LOOP:
            made = _loop(operation, values)
        else:
            made = OPS[operation.kind](**{name: _taken(names, values) for name, names in operation.inputs.items()})
        results = made if isinstance(made, tuple) else (made,)
        values.update(zip(operation.outputs, results, strict=True))
        for name in _names(operation):
            if last.get(name) == index:
                values.pop(name, None)


def _loop(operation: Operation, values: MutableMapping[str, Any]) -> tuple[Any, ...]:
    """Its first block says whether to go on, its second what the variables become."""
    condition, body = operation.blocks
    variables = [values[name] for name in operation.inputs["loop_vars"]]
    while True:
        asked: ChainMap[str, Any] = ChainMap(dict(zip(condition.inputs, variables, strict=True)), values)
        _run(condition.operations, asked, {})  # what a pass computes goes with it
        if not bool(asked[condition.outputs[0]]):
            return tuple(variables)
        done: ChainMap[str, Any] = ChainMap(dict(zip(body.inputs, variables, strict=True)), values)
        _run(body.operations, done, {})
        variables = [done[name] for name in body.outputs]


def _names(operation: Operation) -> list[str]:
    return [name for names in operation.inputs.values() for name in names]


def _taken(names: tuple[str, ...], values: Mapping[str, Any]) -> Any:
    """A value, or the list of those that a parameter takes several of (``concat``, ``stack``)."""
    return values[names[0]] if len(names) == 1 else [values[name] for name in names]
