"""The optimisation passes that a study may add or leave out, and the level at which each joins: the one table of them.

After the table of TVM's Relay, which the DeltaNN papers measured. Passes that are not here (layout, packing of weights,
lowering) are no optimisation of the graph: they belong to the schedule and to the precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from deltann.base import Data
from deltann.spec.lists import Listed

PassName = Literal[
    "DecomposeOpsForInference",
    "FuseOps",
    "FuseTIR",
    "FoldConstant",
    "FoldBatchnormToConv2D",
    "CanonicalizeBindings",
    "EliminateCommonSubexpr",
    "FoldScaleAxis",
    "CombineParallelConv2D",
    "CombineParallelMatmul",
    "FastMathTransform",
    "LLVMFastMath",
]


@dataclass(frozen=True)
class PassFacts:
    """The level at which a pass joins, what it does, and the pass without which it finds nothing to do."""

    level: int
    what: str
    needs: PassName | None = None


PASSES: dict[PassName, PassFacts] = {
    "DecomposeOpsForInference": PassFacts(0, "batch norms and their like become plain arithmetic"),
    "FuseOps": PassFacts(1, "operators are grouped into one kernel"),
    "FuseTIR": PassFacts(1, "the loops of a group become one kernel", needs="FuseOps"),
    "FoldConstant": PassFacts(2, "what has only constants as operands is computed at compile time"),
    "FoldBatchnormToConv2D": PassFacts(3, "batch norms go into the weights of the convolution before them"),
    "CanonicalizeBindings": PassFacts(3, "aliases and trivial bindings go"),
    "EliminateCommonSubexpr": PassFacts(3, "what is computed twice is computed once"),
    "FoldScaleAxis": PassFacts(3, "scales and shifts behind a convolution go into its weights", needs="FoldConstant"),
    "CombineParallelConv2D": PassFacts(4, "three or more convolutions of one input, alike but for weights, become one"),
    "CombineParallelMatmul": PassFacts(4, "matrix products of one input become one"),
    "FastMathTransform": PassFacts(4, "exp, tanh and their like are approximated by TVM"),
    "LLVMFastMath": PassFacts(4, "LLVM reorders and approximates arithmetic, and takes NaN and Inf never to occur"),
}
"""By level. The order in which they run is the compiler's."""


class PassChoice(Data):
    """Single passes that are added to a level, or left out of it."""

    enable: Listed[PassName] = Field(
        default=(), description="Passes that run at every level", exclude_if=lambda names: not names
    )
    disable: Listed[PassName] = Field(
        default=(), description="Passes that run at no level", exclude_if=lambda names: not names
    )

    @model_validator(mode="after")
    def _apart(self) -> PassChoice:
        if both := sorted({*self.enable} & {*self.disable}):
            raise PydanticCustomError("both", "has {names} both enabled and disabled", {"names": ", ".join(both)})
        return self

    @property
    def changes(self) -> str:
        """What is added and left out, as variants carry it in their names: ``+LLVMFastMath -FuseOps``."""
        return " ".join([*(f"+{name}" for name in self.enable), *(f"-{name}" for name in self.disable)])
