"""The table of passes for a terminal."""

from __future__ import annotations

from deltann.cli.explained import explained
from deltann.kinds.compile import ExplainData, ExplainedPass

PASSES = [
    ExplainedPass(name="Normalize", joins="always", ran=True, changed=False, operators=12, kernels=0),
    ExplainedPass(name="FuseOps", joins="1", what="operators become one kernel", ran=False),
    ExplainedPass(name="LegalizeOps", joins="standard", ran=True, changed=True, operators=12, kernels=9),
    ExplainedPass(name="LLVMFastMath", joins="4", what="arithmetic is reordered", ran=True),
]


def told(passes: list[ExplainedPass]) -> list[str]:
    return list(explained(ExplainData(target={"kind": "llvm"}, level=4, passes=passes)))


def test_each_pass_is_a_line_in_columns() -> None:
    assert told(PASSES) == [
        "pass          joins     did           operators  kernels",
        "Normalize     always    nothing              12        0",
        "FuseOps       1         left out                          operators become one kernel",
        "LegalizeOps   standard  changed it           12        9",
        "LLVMFastMath  4         runs in LLVM                      arithmetic is reordered",
        "Level 4: 3 of 4 passes run. 1 of them changed nothing in this model: Normalize.",
    ]


def test_where_each_changed_something_that_is_said() -> None:
    assert told(PASSES[2:])[-1] == "Level 4: 2 of 2 passes run. Each changed something."
