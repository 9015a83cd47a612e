"""Kernels without a register tile: elementwise stages, pools, sums over an axis."""

from __future__ import annotations

from itertools import pairwise
from math import gcd, prod
from typing import Any

from deltann_compiler.schedule.blocks import (
    extent,
    is_reduction,
    largest_divisor,
    loops,
    reductions,
    several,
    spatial,
)

_PARTS = 8
"""Iterations for the threads to share out, at least."""


def schedule_simple(sch: Any, block: Any, lanes: int) -> None:
    """Parallel over the outer loops, vectors over the innermost spatial one."""
    axes = spatial(sch, block)
    if not axes:
        return
    if is_reduction(sch, block):
        _reduction(sch, block, axes, lanes)
    else:
        _elementwise(sch, block, axes, lanes)


def _reduction(sch: Any, block: Any, axes: list[Any], lanes: int) -> None:
    """Sum up whole vectors: the reduction goes around the vector loop, so that no vector has to be summed across."""
    inner, summed = axes[-1], reductions(sch, block)
    outer, vector = sch.split(inner, [None, largest_divisor(extent(sch, inner), 2 * lanes)])
    sch.reorder(*axes[:-1], outer, *summed, vector)
    around = sch.fuse(*axes[:-1], outer) if len(axes) > 1 else outer
    sch.parallel(around)
    if extent(sch, vector) > 1:
        sch.vectorize(vector)
    # Last: the initialisation it splits off has to come out of loops that are vectorised already.
    sch.decompose_reduction(block, summed[0])


def _elementwise(sch: Any, block: Any, axes: list[Any], lanes: int) -> None:
    """Vectors along the innermost axis, and a loop over the rest.

    A concatenation's loop is parted where one operand ends and the next begins: each part then knows at compile time
    which it reads, where otherwise every element would ask.
    """
    width = extent(sch, axes[-1])
    every = loops(sch, block)
    borders = _borders(sch, block, width)
    length = largest_divisor(gcd(width, *borders), 4 * lanes)
    around = prod(extent(sch, loop) for loop in every[:-1])
    if length < lanes or around < _PARTS:
        flat = sch.fuse(*every) if len(every) > 1 else every[0]
        outer, vector = sch.split(flat, [None, largest_divisor(width, 4 * lanes)])
        several(sch, vector, lanes)
        sch.parallel(outer)
        return
    outer = sch.fuse(*every[:-1]) if len(every) > 2 else every[0]
    piece, vector = sch.split(every[-1], [None, length])
    several(sch, vector, lanes)
    sch.parallel(outer)
    if borders:
        sides = [(end - begin) // length for begin, end in pairwise([0, *borders, width])]
        sch.loop_partition(piece, [*sides[:-1], None])


def _borders(sch: Any, block: Any, width: int) -> list[int]:
    """Where along its innermost axis a block goes over from one tensor that it reads to the next, ascending."""
    from tvm import tirx

    inner = [region.region[-1].min for region in sch.get(block).reads if len(region.region)]
    shifts = {abs(int(at.b)) for at in inner if isinstance(at, tirx.Add | tirx.Sub) and isinstance(at.b, tirx.IntImm)}
    return sorted(shift for shift in shifts if 0 < shift < width)
