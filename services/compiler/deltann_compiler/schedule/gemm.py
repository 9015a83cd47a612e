"""Matrix products, convolutions among them: a tile of sums is kept in registers while all that adds to it goes by.

How the product is written and its weights are packed: :mod:`deltann_compiler.passes.implicit_gemm`; how large a tile is
and why: :mod:`deltann_compiler.schedule.tiles`. The loops, outermost first, with what stays in which cache:

    group of tiles × tile of outputs   in parallel; a group's part of the image stays in the second-level cache
      tile of pixels                   its weights stay in the second-level cache, in parts in the first
        kernel height, width, inputs   one step: a vector or two of weights, times each pixel's input broadcast
          pixel of the tile            unrolled: each is a register, or a few
            output of the tile         vectors

The order of primitives matters:

1. split the loops of the stage that writes the output (bias, activation and all) into tiles and bring these inside;
2. ``compute_at`` the product into the tile, its sums in a ``local`` buffer, so that what follows reads registers;
3. vectorise and unroll the tile's loops, in vectors of exactly the target's width (wider ones are split up badly, and
   run ten times slower);
4. only then ``decompose_reduction``: setting to zero inherits vectors and unrolling from the loops it comes out of.
"""

from __future__ import annotations

from typing import Any

from deltann_compiler.schedule.blocks import extent, loops, ravel, reductions, several
from deltann_compiler.schedule.tiles import Tile

TILE = "deltann.tile"
"""Annotation of the block that sums up: the fields of its :class:`Tile`, in order."""

_UNROLLED = 4
"""Inputs of the first layer, which are too few for a loop."""


def tile_of(sch: Any, block: Any) -> Tile | None:
    """The tile that a block is annotated with, if it is a product."""
    noted = sch.get(block).annotations.get(TILE)
    return None if noted is None else Tile(*(int(field) for field in noted))


def schedule_gemm(sch: Any, block: Any, tile: Tile) -> set[str]:
    """Schedule a product and the stage that writes it out.

    Returns:
        Names of the blocks that are scheduled by this.
    """
    from tvm.tirx import IndexMap

    writer = _writer(sch, block, tile)
    sides = [extent(sch, loop) for loop in loops(sch, writer)]
    # One loop over pixels, and one axis: of fused loops, compute_at would take whole rows of the image for a tile.
    flat = IndexMap.from_func(lambda *at: (ravel(at[:-1], sides[:-1]), at[-1]), ndim=len(sides), index_dtype="int64")
    sch.transform_block_layout(writer, flat)
    pixel, output = loops(sch, writer)
    group, run, column = sch.split(pixel, [None, tile.tiles, tile.columns])
    across, channel = sch.split(output, [None, tile.channels])
    sch.reorder(group, across, run, column, channel)
    sch.parallel(sch.fuse(group, across))
    sch.compute_at(block, run, preserve_unit_loops=True)

    count = len(reductions(sch, block))
    inner = loops(sch, block)[-2 - count :]
    (product_column, product_channel), summed = inner[:2], inner[2:]
    sch.reorder(*summed, product_column, product_channel)
    if extent(sch, summed[-1]) <= _UNROLLED:
        sch.unroll(summed[-1])
    several(sch, product_channel, tile.lanes)
    sch.unroll(product_column)
    start = sch.decompose_reduction(block, summed[0])
    several(sch, channel, tile.lanes)
    sch.unroll(column)
    return {sch.get(one).name_hint for one in (block, writer, start)}


def _writer(sch: Any, block: Any, tile: Tile) -> Any:
    """The block that writes a tile out: the one stage that reads the product where their outputs are as many.

    Otherwise (several read it, or outputs are rounded up) a copy of the product is made for what comes after.
    """
    consumers = list(sch.get_consumers(block))
    if len(consumers) == 1 and extent(sch, loops(sch, consumers[0])[-1]) % tile.channels == 0:
        sch.set_scope(block, 0, "local")
        return consumers[0]
    return sch.cache_write(block, 0, "local")
