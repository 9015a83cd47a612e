from __future__ import annotations

from deltann_compiler.bisect.pipeline import Pipeline, bare, changed, changes, pipeline

from deltann.kinds.bisect import Setting


def _of(level: int, **chosen: object) -> Pipeline:
    return pipeline(Setting.model_validate({"level": level, **chosen}).wanted("host"), "llvm")


def test_what_sets_two_levels_apart_is_the_passes_between_them() -> None:
    some = changes(_of(1), _of(3, disable=["FuseTIR"]), "llvm")
    assert [(one.name, one.joins, one.avoidable) for one in some] == [
        ("FoldBatchnormToConv2D", "3", True),
        ("CanonicalizeBindings", "3", True),
        ("EliminateCommonSubexpr", "3", True),
        ("FoldConstant", "2", True),
        ("FoldScaleAxis", "3", True),
        ("FuseTIR", "1", False),
    ]


def test_all_changes_make_b_of_a_and_none_make_a() -> None:
    for a, b in (
        (_of(0), _of(4)),
        (_of(4), _of(0)),
        (_of(3), _of(3, precision="fp16")),
        (_of(3, precision="bf16"), _of(2, precision="fp16", schedule="naive", enable=["LLVMFastMath"])),
        (bare("llvm"), _of(4)),
    ):
        some = changes(a, b, "llvm")
        assert changed(a, some) == b
        assert changed(a, ()) == a


def test_a_pass_made_in_another_way_is_one_change_and_loops_are_one() -> None:
    some = changes(_of(2, schedule="naive"), _of(2), "llvm")
    assert [(one.name, len(one.less), len(one.more), one.schedule) for one in some] == [
        ("ConvertLayout", 0, 1, None),
        ("PackWeights", 0, 1, None),
        ("LegalizeOps", 1, 1, None),
        ("CPUSchedule", 0, 0, "standard"),
    ]
    assert not any(one.avoidable for one in some), "no --disable takes a schedule away"
    other = changes(_of(2, precision="bf16"), _of(2, precision="fp16"), "llvm")
    assert [(one.name, one.joins) for one in other] == [("ToMixedPrecision", "fp16")]


def test_without_passes_nothing_of_a_level_runs() -> None:
    assert [one.name for one in bare("llvm").passes] == [
        "Normalize", "Normalize", "LegalizeOps", "AnnotateTIROpPattern", "DeadCodeElimination",
    ]  # fmt: skip
