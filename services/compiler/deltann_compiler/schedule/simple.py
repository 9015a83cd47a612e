"""Kernels without a register tile: elementwise stages, pools, sums over an axis."""

from __future__ import annotations

from typing import Any

from deltann_compiler.schedule.blocks import extent, is_reduction, largest_divisor, loops, reductions, spatial


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
    """One flat loop in chunks of a few vectors that stay within the innermost axis."""
    innermost = extent(sch, axes[-1])
    every = loops(sch, block)
    flat = sch.fuse(*every) if len(every) > 1 else every[0]
    outer, vector = sch.split(flat, [None, largest_divisor(innermost, 4 * lanes)])
    if extent(sch, vector) > 1:
        sch.vectorize(vector)
    sch.parallel(outer)
