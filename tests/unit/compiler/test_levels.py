"""The table of levels, by itself: no compiler is imported."""

from typing import get_args

import pytest
from deltann_compiler.levels import TABLE, options_of, passes_of

from deltann.kinds.compile import LEVELS, CompileParams
from deltann.passes import PASSES, PassName


def names(level, kind="llvm", **asked):
    return [one.name for one in passes_of(CompileParams(level=level, **asked), kind)]


@pytest.mark.parametrize("level", range(4))
def test_each_level_keeps_what_the_one_below_does_in_the_same_order(level):
    below, above = names(level), names(level + 1)
    assert set(below) <= set(above)
    assert [name for name in above if name in below] == below


def test_each_level_adds_what_relays_table_gives_it():
    """Level 0 simplifies, 1 fuses, 2 folds constants, 3 folds scales and removes repetition, 4 is fast and loose."""
    added = [set(names(0)), *({*names(level)} - {*names(level - 1)} for level in range(1, 5))]
    assert "DecomposeOpsForInference" in added[0]
    assert added[1] == {"FuseOps", "FuseTIR"}
    assert added[2] == {"FoldConstant"}
    assert {"FoldBatchnormToConv2D", "EliminateCommonSubexpr", "CanonicalizeBindings"} <= added[3]
    assert {"CombineParallelMatmul", "FastMathTransform", "LLVMFastMath"} <= added[4]


def test_the_compiler_has_every_pass_that_a_study_may_name_and_each_need_among_them():
    assert tuple(PASSES) == get_args(PassName)
    assert {one.name for one in TABLE if one.level is not None} == set(PASSES)
    order = names(4)
    for name, facts in PASSES.items():
        if facts.needs is not None:
            assert PASSES[facts.needs].level <= facts.level
            assert order.index(facts.needs) < order.index(name)


def test_layout_and_packing_come_with_the_standard_schedule_at_every_level():
    assert {"ConvertLayout", "PackWeights", "LegalizeOps"} <= set(names(0))
    assert not {"ConvertLayout", "PackWeights"} & set(names(4, schedule="naive"))
    assert names(4, schedule="naive").count("LegalizeOps") == 1


def test_fusion_is_annotated_before_it_and_after_lowering():
    order = names(4)
    assert order.index("LegalizeOps") < order.index("AnnotateTIROpPattern") < order.index("FuseOps")


def test_every_named_level_has_passes():
    assert {LEVELS[name] for name in ("basic", "default", "extended")} <= set(range(5))
    assert all(names(level) for level in LEVELS.values())


def test_a_single_pass_is_left_out_or_added_and_nothing_else_changes():
    without = names(4, disable=["FuseOps"])
    assert without == [name for name in names(4) if name != "FuseOps"]
    fast = names(0, enable=["LLVMFastMath", "FastMathTransform"])
    assert [name for name in fast if name not in ("LLVMFastMath", "FastMathTransform")] == names(0)
    assert fast[-1] == "LLVMFastMath"


def test_both_fast_maths_stand_alone():
    for one, other in (("LLVMFastMath", "FastMathTransform"), ("FastMathTransform", "LLVMFastMath")):
        assert one in names(4, disable=[other])
        assert other not in names(4, disable=[other])


def test_llvms_fast_math_is_an_option_of_llvm_targets_alone():
    wanted = CompileParams(level=4)
    assert options_of(passes_of(wanted, "llvm")) == {"fast-math": True}
    assert options_of(passes_of(wanted, "cuda")) == {}
    assert options_of(passes_of(CompileParams(level=3), "llvm")) == {}
