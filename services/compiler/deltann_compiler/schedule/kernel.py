"""One kernel: inline what is cheap, tile the one computation that counts, and give everything else simple loops."""

from __future__ import annotations

import contextlib
from typing import Any

from deltann_compiler.schedule.blocks import children, is_reduction, loops, spatial
from deltann_compiler.schedule.gemm import schedule_gemm, tile_of
from deltann_compiler.schedule.simple import schedule_simple
from deltann_compiler.schedule.tiled import schedule_tiled

_TILED = (
    "conv",
    "group_conv",
    "depthwise",
    "DepthwiseConv",
    "matmul",
    "T_matmul",
    "T_dense",
    "dense",
    "pool_max",
    "pool_sum",
)
"""Name prefixes of the blocks that a register tile is worth it for."""


def schedule_kernel(function: Any, lanes: int) -> Any:
    """The scheduled ``PrimFunc`` of a kernel.

    Raises:
        Exception: where the schedule does not fit; the caller keeps the plain loops.
    """
    import tvm
    from tvm.s_tir import Schedule

    sch = Schedule(tvm.IRModule({"main": function}))
    _inline(sch)
    done: set[str] = set()
    for block in children(sch):
        if (tile := tile_of(sch, block)) is not None:
            done |= schedule_gemm(sch, block, tile)
    anchors = [
        block
        for block in children(sch)
        if is_reduction(sch, block) and len(spatial(sch, block)) >= 2 and sch.get(block).name_hint.startswith(_TILED)
    ]
    if not done and len(anchors) == 1:
        done = schedule_tiled(sch, anchors[0], lanes)
    for block in children(sch):
        if sch.get(block).name_hint not in done:
            schedule_simple(sch, block, lanes)
    return sch.mod["main"]


def schedule_stages(function: Any, lanes: int) -> Any:
    """The kernel with nothing inlined, moved or tiled: each stage has its loops spread over threads and vectors."""
    import tvm
    from tvm.s_tir import Schedule

    sch = Schedule(tvm.IRModule({"main": function}))
    for block in children(sch):
        schedule_simple(sch, block, lanes)
    return sch.mod["main"]


def _inline(sch: Any) -> None:
    """Inline elementwise stages into their readers. A pad stays: inlined, it would put a branch into the inner loop."""
    for block in children(sch):
        if is_reduction(sch, block) or _pads(sch, block) or not loops(sch, block):
            continue
        with contextlib.suppress(Exception):  # an output, or read by several: it is scheduled as a stage of its own
            sch.compute_inline(block)


def _pads(sch: Any, block: Any) -> bool:
    """Whether a block really pads: frontends leave pads of zero width behind, which are copies."""
    stage = sch.get(block)
    if "pad" not in stage.name_hint:
        return False
    if len(stage.reads) != 1:
        return True
    read, written = ([int(side) for side in region.source.ty.shape] for region in (stage.reads[0], stage.writes[0]))
    return read != written
