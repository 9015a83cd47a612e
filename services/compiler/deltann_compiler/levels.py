"""Optimisation levels as data, after the table of TVM's Relay that the DeltaNN papers measured.

Relax itself changes next to nothing with ``opt_level``, so a level here is the list of passes that run. What a CPU
needs in order to compute decently (NHWC layout, packed weights, tiled loops) is no optimisation of the graph: it is the
schedule, and runs at every level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SCHEDULE = -1
"""The level of passes that belong to the schedule: they always run."""


@dataclass(frozen=True)
class Pass:
    """A named pass, the level at which it joins, and how it is made."""

    name: str
    level: int
    make: Callable[[], Any]


def _relax(name: str, *args: Any) -> Callable[[], Any]:
    def make() -> Any:
        from tvm import relax

        return getattr(relax.transform, name)(*args)

    return make


def _own(module: str, name: str) -> Callable[[], Any]:
    def make() -> Any:
        from importlib import import_module

        return getattr(import_module(f"deltann_compiler.passes.{module}"), name)()

    return make


def _fold_batch_norm() -> Any:
    from tvm.relax.transform import fold_batch_norm_to_conv2d_for_inference

    return fold_batch_norm_to_conv2d_for_inference.FoldBatchnormToConv2D()


TABLE: tuple[Pass, ...] = (
    Pass("RestoreOps", SCHEDULE, _own("restore_ops", "RestoreOps")),
    Pass("Normalize", SCHEDULE, _relax("Normalize")),
    Pass("FoldBatchnormToConv2D", 3, _fold_batch_norm),
    Pass("DecomposeOpsForInference", 0, _relax("DecomposeOpsForInference")),
    Pass("CanonicalizeBindings", 3, _relax("CanonicalizeBindings")),
    Pass("EliminateCommonSubexpr", 3, _relax("EliminateCommonSubexpr")),
    Pass("CombineParallelMatmul", 4, _relax("CombineParallelMatmul")),
    Pass("FastMathTransform", 4, _relax("FastMathTransform")),
    Pass("FoldConstant", 2, _own("fold_constants", "fold_constants")),
    Pass("ConvertLayout", SCHEDULE, _relax("ConvertLayout", {"relax.nn.conv2d": ["NHWC", "HWIO"]})),
    Pass("Normalize", SCHEDULE, _relax("Normalize")),
    Pass("PackWeights", SCHEDULE, _own("fold_constants", "pack_weights")),
    Pass("LegalizeOps", SCHEDULE, _own("legalise", "legalise")),
    Pass("AnnotateTIROpPattern", 1, _relax("AnnotateTIROpPattern")),
    Pass("FuseOps", 1, _relax("FuseOps")),
    Pass("FuseTIR", 1, _relax("FuseTIR")),
    Pass("DeadCodeElimination", SCHEDULE, _relax("DeadCodeElimination", ["main"])),
)
"""In the order in which they run."""

FAST_MATH_LEVEL = 4
"""From this level on, LLVM may reorder and approximate floating-point arithmetic too."""


def passes_of(level: int) -> tuple[Pass, ...]:
    """The passes of a level, in order: those of every lower level are among them."""
    return tuple(one for one in TABLE if one.level <= level)
