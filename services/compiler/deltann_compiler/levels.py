"""Optimisation levels as data: the passes that the compiler has, in the order in which they run.

Relax itself changes next to nothing with ``opt_level``, so a level here is the list of passes that run
(:mod:`deltann.passes` says at which level each joins). What is not of a level belongs to the schedule or the precision:
what a CPU needs in order to compute decently (NHWC layout, packed weights) is no optimisation of the graph, and comes
with the ``standard`` schedule at every level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from deltann.kinds.compile import CompileParams
from deltann.passes import PASSES


@dataclass(frozen=True)
class Made:
    """How a pass is made: what has that name in a module, called with arguments."""

    module: str
    name: str
    args: tuple[Any, ...] = ()

    def __call__(self) -> Any:
        """The pass."""
        return getattr(import_module(self.module), self.name)(*self.args)


@dataclass(frozen=True)
class Pass:
    """A named pass, how it is made, and with what it comes.

    A pass that nothing is made of is LLVM's own: ``option`` asks the target for it. Without a ``schedule`` or
    ``precision`` it belongs to all of them; ``llvm`` says whether it is for LLVM's targets or for the others alone.
    """

    name: str
    make: Callable[[], Any] | None = None
    schedule: str | None = None
    precision: str | None = None
    option: str | None = None
    llvm: bool | None = None

    @property
    def level(self) -> int | None:
        """The level at which it joins; None where it is of no level."""
        facts = PASSES.get(self.name)  # type: ignore[call-overload]
        return facts.level if facts is not None else None

    @property
    def joins(self) -> str:
        """With what it comes, in a word."""
        return str(self.schedule or self.precision or "always") if self.level is None else str(self.level)

    def runs(self, wanted: CompileParams, kind: str) -> bool:
        """Whether it is among what was asked for, on a target of that kind."""
        if self.schedule not in (None, wanted.schedule) or self.precision not in (None, wanted.precision):
            return False
        if self.llvm not in (None, kind == "llvm"):
            return False
        if self.level is None or self.name in wanted.enable:
            return True
        return self.level <= wanted.level and self.name not in wanted.disable


def _relax(name: str, *args: Any) -> Made:
    return Made("tvm.relax.transform", name, args)


def _own(module: str, name: str) -> Made:
    return Made(f"deltann_compiler.passes.{module}", name)


_FOLD_BATCH_NORM = "tvm.relax.transform.fold_batch_norm_to_conv2d_for_inference"
_NHWC = {"relax.nn.conv2d": ["NHWC", "HWIO"]}

TABLE: tuple[Pass, ...] = (
    Pass("RestoreOps", _own("restore_ops", "RestoreOps")),
    Pass("Normalize", _relax("Normalize")),
    Pass("FoldBatchnormToConv2D", Made(_FOLD_BATCH_NORM, "FoldBatchnormToConv2D")),
    Pass("DecomposeOpsForInference", _relax("DecomposeOpsForInference")),
    Pass("CanonicalizeBindings", _relax("CanonicalizeBindings")),
    Pass("EliminateCommonSubexpr", _relax("EliminateCommonSubexpr")),
    Pass("CombineParallelMatmul", _relax("CombineParallelMatmul")),
    Pass("FastMathTransform", _relax("FastMathTransform")),
    Pass("FoldConstant", _own("fold_constants", "fold_constants")),
    Pass("FoldScaleAxis", _own("fold_scale_axis", "FoldScaleAxis")),
    Pass("CombineParallelConv2D", _own("combine_conv", "CombineParallelConv2D")),
    Pass("ToMixedPrecision", _own("mixed_precision", "MixedFloat16"), precision="fp16"),
    Pass("ToMixedPrecision", _own("mixed_precision", "MixedBfloat16"), precision="bf16"),
    Pass("ConvertLayout", _relax("ConvertLayout", _NHWC), schedule="standard"),
    Pass("Normalize", _relax("Normalize")),
    Pass("PackWeights", _own("fold_constants", "pack_weights"), schedule="standard"),
    Pass("LegalizeOps", _own("legalise", "legalise"), schedule="standard", llvm=True),
    Pass("LegalizeOps", _relax("LegalizeOps"), schedule="standard", llvm=False),
    Pass("LegalizeOps", _relax("LegalizeOps"), schedule="naive"),
    Pass("AnnotateTIROpPattern", _relax("AnnotateTIROpPattern")),
    Pass("FuseOps", _relax("FuseOps")),
    Pass("FuseTIR", _relax("FuseTIR")),
    Pass("DeadCodeElimination", _relax("DeadCodeElimination", ["main"])),
    Pass("LLVMFastMath", option="fast-math", llvm=True),
)
"""In the order in which they run."""


def passes_of(wanted: CompileParams, kind: str = "llvm") -> tuple[Pass, ...]:
    """The passes that were asked for, in order: those of every lower level are among them.

    Args:
        wanted: level, single passes, schedule and precision.
        kind: of the target.
    """
    return tuple(one for one in TABLE if one.runs(wanted, kind))


def options_of(passes: tuple[Pass, ...]) -> dict[str, bool]:
    """What they ask of the target."""
    return {one.option: True for one in passes if one.option is not None}
