"""Which variants are compared, on plans that can be read at a glance."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from deltann_analyzer.pairs import find_pairs
from hypothesis import given
from hypothesis import strategies as st

from deltann.model import ENGINE_OF
from deltann.plan.context import ConversionPlan, VariantPlan


def variant(id: str, framework: str = "pytorch", **more: Any) -> VariantPlan:
    base = {
        "id": id, "model": "m", "instance": "pytorch", "source": "pytorch", "framework": framework,
        "engine": ENGINE_OF[framework], "preprocessing": "p", "pool": "cpu", "execute_jobs": (),
    }  # fmt: skip
    return VariantPlan.model_validate(base | more)


def tvm(id: str, level: int, framework: str = "pytorch", **more: Any) -> VariantPlan:
    base = {"engine": "tvm", "opt_level": level, "target": "host", "schedule": "standard"}
    return variant(id, framework, **(base | more))


def conversion(id: str, *chain: str, source: str | None = None) -> ConversionPlan:
    return ConversionPlan.model_validate(
        {"id": id, "model": "m", "native": "m/pytorch", "chain": chain, "source": source or chain[0],
         "target": chain[-1], "jobs": ()}
    )  # fmt: skip


def named(variants: list[VariantPlan], conversions: list[ConversionPlan] | None = None, **how: Any) -> set[str]:
    pairs = find_pairs(variants, conversions or [], **how)
    return {f"{variants[pair.a].id}-{variants[pair.b].id}:{pair.axis}" for pair in pairs}


def test_levels_are_compared_with_each_other_on_the_same_target() -> None:
    variants = [tvm("l0", 0), tvm("l2", 2), tvm("l4", 4), tvm("arm", 0, target="arm")]
    assert named(variants) == {
        "l0-l2:optimization", "l0-l4:optimization", "l2-l4:optimization", "l0-arm:target",
    }  # fmt: skip


def test_own_engine_is_compared_with_every_level_of_the_same_model() -> None:
    variants = [variant("own"), tvm("l0", 0), tvm("l2", 2), tvm("of-keras", 0, "keras", conversion="c")]
    assert named(variants, [conversion("c", "pytorch", "keras")], axes=("engine",)) == {
        "own-l0:engine",
        "own-l2:engine",
    }


def test_natives_of_two_frameworks_are_compared_and_never_called_a_conversion() -> None:
    variants = [
        variant("torch"), tvm("torch-0", 0),
        variant("keras", "keras", instance="keras", source="keras"),
        tvm("keras-0", 0, "keras", instance="keras", source="keras"),
    ]  # fmt: skip
    assert named(variants, axes=("framework", "conversion")) == {"torch-keras:framework", "torch-0-keras-0:framework"}


def test_a_conversion_is_judged_in_own_engines_and_through_the_compiler_at_the_same_level() -> None:
    made = {"conversion": "c", "chain": ("keras",)}
    variants = [
        variant("own"), tvm("l0", 0), tvm("l2", 2),
        variant("own-k", "keras", parent="own", **made),
        tvm("l0-k", 0, "keras", parent="l0", **made), tvm("l2-k", 2, "keras", parent="l2", **made),
    ]  # fmt: skip
    assert named(variants, [conversion("c", "pytorch", "keras")], axes=("conversion",)) == {
        "own-own-k:conversion", "l0-l0-k:conversion", "l2-l2-k:conversion",
    }  # fmt: skip


def test_a_derived_source_and_the_native_are_both_references_of_a_conversion() -> None:
    variants = [
        variant("native"),
        variant("k", "keras", parent="native", conversion="to-k", chain=("keras",)),
        variant("t", "tflite", parent="k", conversion="k-to-t", chain=("keras", "tflite")),
        variant("t2", "tflite", parent="k", conversion="k-to-t-raw", chain=("keras", "tflite", "raw")),
    ]
    conversions = [
        conversion("to-k", "pytorch", "keras"),
        conversion("k-to-t", "pytorch", "keras", "tflite", source="keras"),
        conversion("k-to-t-raw", "pytorch", "keras", "tflite", source="keras"),
    ]
    assert named(variants, conversions, axes=("conversion",)) == {
        "native-k:conversion", "k-t:conversion", "k-t2:conversion", "native-t:conversion", "native-t2:conversion",
        "t-t2:conversion",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("axis", "field", "value"),
    [("preprocessing", "preprocessing", "raw"), ("device", "pool", "arm"), ("precision", "precision", "fp16"),
     ("library", "library", "mkl"), ("schedule", "schedule", "other"), ("mutation", "mutation", "swap@3")],
)  # fmt: skip
def test_one_changed_coordinate_is_its_axis(axis: str, field: str, value: str) -> None:
    assert named([tvm("a", 0), tvm("b", 0, **{field: value})]) == {f"a-b:{axis}"}


def test_two_engines_are_alike_in_what_is_chosen_of_each_first_and_in_what_has_one_name() -> None:
    variants = [
        variant("own"),
        variant("ov", engine="openvino", precision="default"),
        variant("ov32", engine="openvino", precision="fp32"),
        variant("ov16", engine="openvino", precision="bf16"),
    ]
    assert named(variants) == {
        "own-ov:engine", "own-ov32:engine", "ov-ov32:precision", "ov-ov16:precision", "ov32-ov16:precision",
    }  # fmt: skip


def test_libraries_are_an_axis_of_one_engine_and_the_first_of_each_stand_for_it() -> None:
    made = conversion("c", "pytorch", "tflite")
    variants = [
        variant("one", library="onednn"), variant("nat", library="native"),
        variant("xnn", "tflite", conversion="c", library="xnnpack"),
        variant("ref", "tflite", conversion="c", library="reference"), tvm("tvm", 0),
    ]  # fmt: skip
    assert named(variants, [made]) == {
        "one-nat:library", "xnn-ref:library", "one-xnn:conversion", "one-tvm:engine",
    }  # fmt: skip


def test_levels_of_one_engine_are_held_against_each_other_and_each_against_the_own_engine() -> None:
    variants = [variant("own"), *(variant(f"l{at}", engine="onnxruntime", opt_level=at) for at in (0, 3))]
    assert named(variants) == {"own-l0:engine", "own-l3:engine", "l0-l3:optimization"}


def test_mutants_are_compared_with_the_original_only() -> None:
    variants = [variant("a"), variant("m1", mutation="one"), variant("m2", mutation="two")]
    assert named(variants) == {"a-m1:mutation", "a-m2:mutation"}


def test_two_changed_coordinates_are_compared_only_where_all_pairs_are_asked_for() -> None:
    variants = [tvm("a", 0), tvm("b", 2, preprocessing="raw")]
    assert named(variants) == set()
    assert named(variants, all_pairs=True) == {"a-b:multiple"}


def test_only_the_axes_asked_for_are_compared() -> None:
    assert named([tvm("a", 0), tvm("b", 2), tvm("c", 0, pool="arm")], axes=("device",)) == {"a-c:device"}


@given(
    st.lists(
        st.tuples(st.sampled_from((0, 2, 4)), st.sampled_from("xy"), st.sampled_from("pq")), min_size=1, max_size=12,
        unique=True,
    )
)  # fmt: skip
def test_all_pairs_holds_every_pair_once_and_the_earlier_first(points: list[tuple[int, str, str]]) -> None:
    variants = [
        tvm(f"v{at}", level, pool=pool, preprocessing=recipe) for at, (level, pool, recipe) in enumerate(points)
    ]
    pairs = find_pairs(variants, [], all_pairs=True)
    assert [(pair.a, pair.b) for pair in pairs] == list(combinations(range(len(variants)), 2))
    for pair in pairs:
        differing = sum(one != two for one, two in zip(points[pair.a], points[pair.b], strict=True))
        assert (pair.axis != "multiple") == (differing == 1)
