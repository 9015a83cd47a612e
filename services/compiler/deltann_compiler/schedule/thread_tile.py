"""Convolutions on devices with threads: each thread keeps a tile of the output in registers.

A tile is a few neighbouring columns × four neighbouring channels. Each step of the sum loads one vector of weights, and
one input for each column, and does their product of multiply-adds. Threads side by side take channels side by side, so
that in NHWC what they load of the weights, and write of the output, lies side by side in memory; the input they load is
the same. Nothing is shared through local memory: that needs barriers, whose worth differs from device to device.
"""

from __future__ import annotations

import contextlib
from typing import Any

from deltann_compiler.schedule.blocks import (
    REDUCTION,
    children,
    extent,
    is_reduction,
    kinds,
    largest_divisor,
    loops,
    spatial,
)

_LANES = 4
"""float4 is the widest vector that all of OpenCL's and CUDA's devices load at once."""
_COLUMNS = 8
"""Columns of a tile at most: 32 accumulators leave room for several groups of threads in a GPU's registers."""
_THREADS_ALONG_CHANNELS = 32
_AXES = 4


def tile_convolution(function: Any, target: Any) -> Any:
    """Schedule a kernel with one convolution, and what is fused before and behind it.

    Args:
        function: the ``PrimFunc``.
        target: current target of TVM's, with ``max_num_threads``.

    Returns:
        The schedule; None where the kernel is none of these.
    """
    import tvm
    from tvm.s_tir import Schedule

    sch = Schedule(tvm.IRModule({"main": function}))
    sums = [block for block in children(sch) if is_reduction(sch, block)]
    if len(sums) != 1 or len(spatial(sch, sums[0])) != _AXES or kinds(sch, sums[0]).count(REDUCTION) < 2:
        return None
    block = sums[0]
    if not sch.get(block).name_hint.startswith(("conv", "group_conv", "depthwise", "Depthwise")):
        return None
    _inline_others(sch, block)
    consumers = list(sch.get_consumers(block))
    if len(children(sch)) > 2 or len(consumers) > 1:
        return None
    if consumers:
        sch.set_scope(block, 0, "local")
        writer = consumers[0]
    else:
        writer = sch.cache_write(block, 0, "local")
    _tile(sch, block, writer, int(target.attrs["max_num_threads"]))
    return sch


def _inline_others(sch: Any, block: Any) -> None:
    """Inline every other stage, pads too: a thread that tests a border waits for none of its neighbours."""
    kept = sch.get(block).name_hint
    for other in children(sch):
        if sch.get(other).name_hint != kept:
            with contextlib.suppress(Exception):  # the last stage, which writes the output
                sch.compute_inline(other)


def _tile(sch: Any, block: Any, writer: Any, most: int) -> None:
    *rows, column, channel = loops(sch, writer)
    channels, tile_channel = sch.split(channel, [None, largest_divisor(extent(sch, channel), _LANES)])
    columns, tile_column = sch.split(column, [None, largest_divisor(extent(sch, column), _COLUMNS)])
    sch.reorder(*rows, columns, channels, tile_column, tile_channel)
    pixels = sch.fuse(*rows, columns)

    along = largest_divisor(extent(sch, channels), min(_THREADS_ALONG_CHANNELS, most))
    across = largest_divisor(extent(sch, pixels), most // along)
    channel_block, thread_x = sch.split(channels, [None, along])
    pixel_block, thread_y = sch.split(pixels, [None, across])
    sch.reorder(pixel_block, channel_block, thread_y, thread_x)
    sch.bind(sch.fuse(pixel_block, channel_block), "blockIdx.x")
    sch.bind(thread_y, "threadIdx.y")
    sch.bind(thread_x, "threadIdx.x")

    sch.compute_at(block, thread_x, preserve_unit_loops=True)
    inner = loops(sch, block)[-len(kinds(sch, block)) :]
    summed = inner[_AXES:]  # compute_at puts the sums inside
    sch.reorder(*summed, *inner[:_AXES])
    sch.vectorize(inner[_AXES - 1])
    sch.unroll(inner[_AXES - 2])
    sch.vectorize(tile_channel)
    sch.unroll(tile_column)
    # Last: the initialisation inherits vectors and unrolling from the loops it comes out of.
    sch.decompose_reduction(block, summed[0])
