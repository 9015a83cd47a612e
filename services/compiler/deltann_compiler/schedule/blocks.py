"""Reading a schedule: blocks, their loops, and which of these are spatial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

REDUCTION = 2
"""``IterVar.iter_type`` of a loop that sums up."""


def children(sch: Any) -> list[Any]:
    """The blocks of a kernel, in order."""
    return list(sch.get_child_blocks(sch.get_sblock("root")))


def kinds(sch: Any, block: Any) -> list[int]:
    """The kind of each of a block's loops."""
    return [int(variable.iter_type) for variable in sch.get(block).iter_vars]


def is_reduction(sch: Any, block: Any) -> bool:
    """Whether a block sums up over any loop."""
    return REDUCTION in kinds(sch, block)


def loops(sch: Any, block: Any) -> list[Any]:
    """The loops around a block, outermost first."""
    return list(sch.get_loops(block))


def spatial(sch: Any, block: Any) -> list[Any]:
    """The loops that each compute other elements of the output."""
    return [loop for loop, kind in _paired(sch, block) if kind != REDUCTION]


def reductions(sch: Any, block: Any) -> list[Any]:
    """The loops that sum up."""
    return [loop for loop, kind in _paired(sch, block) if kind == REDUCTION]


def _paired(sch: Any, block: Any) -> list[tuple[Any, int]]:
    """Each loop with its kind, before any of them is split; a scalar has an axis of its own but no loop."""
    return list(zip(loops(sch, block), kinds(sch, block), strict=False))


def extent(sch: Any, loop: Any) -> int:
    """How often a loop goes round."""
    return int(sch.get(loop).extent)


def largest_divisor(number: int, most: int) -> int:
    """The largest divisor of ``number`` that is at most ``most``: a split without a remainder."""
    return next(divisor for divisor in range(min(number, most), 0, -1) if number % divisor == 0)


def several(sch: Any, loop: Any, lanes: int) -> None:
    """Vectors of exactly ``lanes``; what is longer becomes several, unrolled."""
    length = extent(sch, loop)
    if length == 1:
        return
    if length > lanes:
        outer, loop = sch.split(loop, [None, lanes])
        sch.unroll(outer)
    sch.vectorize(loop)


def ravel(at: Sequence[Any], sides: Sequence[int]) -> Any:
    """The position in row-major order of an element of a tensor with these sides."""
    flat: Any = 0
    for index, side in zip(at, sides, strict=True):
        flat = flat * side + index
    return flat
