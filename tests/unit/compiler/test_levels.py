"""The table of levels, by itself: no compiler is imported."""

import pytest
from deltann_compiler.levels import SCHEDULE, TABLE, passes_of

from deltann.kinds.compile import LEVELS


@pytest.mark.parametrize("level", range(4))
def test_each_level_keeps_what_the_one_below_does_in_the_same_order(level):
    names, above = ([one.name for one in passes_of(at)] for at in (level, level + 1))
    assert set(names) <= set(above)
    assert [name for name in above if name in names] == names


def test_each_level_adds_what_relays_table_gives_it():
    """Level 0 simplifies, 1 fuses, 2 folds constants, 3 folds scales and removes repetition, 4 is fast and loose."""
    added = {level: {one.name for one in TABLE if one.level == level} for level in range(5)}
    assert "DecomposeOpsForInference" in added[0]
    assert {"FuseOps", "FuseTIR"} <= added[1]
    assert "FoldConstant" in added[2]
    assert {"FoldBatchnormToConv2D", "EliminateCommonSubexpr", "CanonicalizeBindings"} <= added[3]
    assert {"CombineParallelMatmul", "FastMathTransform"} <= added[4]


def test_layout_and_packing_belong_to_the_schedule_and_run_at_every_level():
    always = {one.name for one in TABLE if one.level == SCHEDULE}
    assert {"ConvertLayout", "PackWeights", "LegalizeOps"} <= always
    assert always <= {one.name for one in passes_of(0)}


def test_fusion_is_annotated_before_it_and_after_lowering():
    order = [one.name for one in passes_of(4)]
    assert order.index("LegalizeOps") < order.index("AnnotateTIROpPattern") < order.index("FuseOps")
    assert order.index("FuseOps") < order.index("FuseTIR")


def test_every_named_level_has_passes():
    assert {LEVELS[name] for name in ("basic", "default", "extended")} <= set(range(5))
    assert all(passes_of(level) for level in LEVELS.values())
