"""Depthwise and grouped convolutions, products of two inputs: a tile of sums is kept in registers, as in products.

A tile is ``width`` neighbouring output columns × ``channels`` output channels. Each step of the reduction loads
``channels / lanes`` vectors of weights and ``width`` broadcast inputs, and does their product of multiply-adds: the
more square the tile, the more arithmetic per load, as long as its accumulators fit into the vector registers.

The order of primitives matters:

1. split the output's loops into tiles and bring the tile loops inside;
2. ``compute_at`` the reduction into the tile, its result in a ``local`` buffer, so that what follows it (bias,
   activation) reads accumulators from registers;
3. vectorise and unroll the tile loops, in vectors of exactly the target's width (wider ones are split up badly, and run
   ten times slower);
4. only then ``decompose_reduction``: the initialisation inherits vectors and unrolling from the loops it comes out of.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from deltann_compiler.schedule.blocks import REDUCTION, extent, kinds, largest_divisor, loops, reductions, several
from deltann_compiler.schedule.tiles import registers

_FREE = 3
"""Vector registers that hold no sums: weights and inputs pass through them."""

_ENOUGH = 6
"""Accumulators below which the multiply-adds wait for each other instead of overlapping."""

_CHANNELS = (64, 48, 32, 16, 8, 4, 1)
_DEPTHWISE_TAPS = 49


@dataclass(frozen=True)
class Tile:
    """Output channels and output columns that are computed together."""

    channels: int
    width: int


def choose_tile(channels: int, width: int, lanes: int) -> Tile:
    """The tile with the most arithmetic per load that fits into the registers.

    Args:
        channels: extent of the innermost loop of the output.
        width: extent of the loop around it; 1 where there is none.
        lanes: float32 lanes of a vector.
    """
    best, best_score, room = Tile(1, 1), -1.0, registers(lanes) - _FREE
    for count in _CHANNELS:
        if channels % count:
            continue
        vectors = ceil(count / lanes)
        if vectors > room:
            continue
        columns = largest_divisor(width, max(1, room // vectors))
        accumulators = vectors * columns
        score = accumulators / (vectors + columns) * min(1.0, count / lanes) * min(1.0, accumulators / _ENOUGH)
        if score > best_score:
            best, best_score = Tile(count, columns), score
    return best


def schedule_tiled(sch: Any, block: Any, lanes: int) -> set[str]:
    """Tile a convolution or matrix product.

    Returns:
        Names of the blocks that are scheduled by this.

    Raises:
        ValueError: where several stages read the result: there is no one loop nest to compute it in.
    """
    writer = _writer(sch, block)
    outer = loops(sch, writer)
    depthwise = _is_depthwise(sch, block)
    channel = outer.pop()
    column = outer.pop() if len(outer) >= 2 else None
    tile = choose_tile(extent(sch, channel), extent(sch, column) if column is not None else 1, lanes)

    outer_channel, tile_channel = sch.split(channel, [None, tile.channels])
    if column is None:
        at = sch.fuse(*outer, outer_channel)
        tile_column = None
        sch.parallel(at)
    else:
        at, tile_column = sch.split(column, [None, tile.width])
        if depthwise:  # each channel reads its own input: walk over the channels within a row
            sch.reorder(*outer, outer_channel, at, tile_column, tile_channel)
            around = sch.fuse(*outer) if len(outer) > 1 else outer[0]
        else:  # one tile of weights is used for every row: channels go outside
            sch.reorder(outer_channel, *outer, at, tile_column, tile_channel)
            around = sch.fuse(outer_channel, *outer)
        sch.parallel(around)
    sch.compute_at(block, at, preserve_unit_loops=True)

    tile_loops = 1 if tile_column is None else 2
    inner = loops(sch, block)[len(loops(sch, writer)) - tile_loops :]
    count = kinds(sch, block).count(REDUCTION)
    columns_and_channels, summed = inner[:-count], inner[-count:]  # compute_at puts the sums inside
    sch.reorder(*summed, *columns_and_channels)
    several(sch, columns_and_channels[-1], lanes if tile.channels % lanes == 0 else tile.channels)
    for loop in columns_and_channels[:-1]:
        sch.unroll(loop)
    start = sch.decompose_reduction(block, summed[0])
    several(sch, tile_channel, lanes if tile.channels % lanes == 0 else tile.channels)
    if tile_column is not None:
        sch.unroll(tile_column)
    return {sch.get(one).name_hint for one in (block, writer, start)}


def _writer(sch: Any, block: Any) -> Any:
    """The block that writes the tile out: the one stage that reads the result, or a copy made for it."""
    consumers = list(sch.get_consumers(block))
    if len(consumers) > 1:
        raise ValueError(f"{sch.get(block).name_hint} is read by {len(consumers)} stages")
    if not consumers:
        return sch.cache_write(block, 0, "local")
    sch.set_scope(block, 0, "local")
    return consumers[0]


def _is_depthwise(sch: Any, block: Any) -> bool:
    """Whether a channel of the output reads one channel of the input: the reduction is over the taps alone."""
    taps = [extent(sch, loop) for loop in reductions(sch, block)]
    return len(taps) == 2 or (len(taps) == 3 and 1 in taps and int(np.prod(taps)) <= _DEPTHWISE_TAPS and max(taps) <= 7)
