"""Properties of every plan."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_plan import FORMATS, planned, results, study

from deltann.job import JobMessage
from deltann.model import Format
from deltann.plan import plan_sweep, sweep_id

FRAMEWORKS = ["pytorch", "keras", "tensorflow", "tflite", "onnx"]
ENDS = st.lists(st.sampled_from(FRAMEWORKS), min_size=2, max_size=2, unique=True)
CHAINS = st.lists(st.sampled_from(FRAMEWORKS), min_size=2, max_size=4).filter(
    lambda chain: all(a != b for a, b in pairwise(chain))
)


def some(*values: object, most: int = 2) -> st.SearchStrategy[list[object]]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=most, unique=True)


CONVERSIONS = st.fixed_dictionaries(
    {},
    optional={
        "pairs": st.just("all") | st.lists(ENDS, max_size=5, unique_by=tuple),
        "chains": st.lists(CHAINS, max_size=3, unique_by=tuple),
        "routes": some("onnx", "direct"),
        "normalise": some(True, False),
        "tools": st.dictionaries(st.sampled_from(FRAMEWORKS), some("raw", "direct", "onnx2keras"), max_size=2),
        "include_onnx": st.booleans(),
    },
)
STUDIES = st.fixed_dictionaries(
    {"conversions": CONVERSIONS},
    optional={
        "engines": some("own", "tvm"),
        "compile": st.fixed_dictionaries(
            {}, optional={"levels": some(0, 1, 4), "targets": some("host", "x86-64-v2", "x86-64-v3")}
        ),
        "pools": some("cpu", "rpi4", "gpu"),
        "preprocessing_on": st.sampled_from(["natives", "all"]),
    },
)
NATIVES = st.lists(st.sampled_from(FORMATS), min_size=1, max_size=4)


@settings(max_examples=50, deadline=None)
@given(natives=NATIVES, more=STUDIES, recipes=some("tf", "caffe"), own=st.booleans())
def test_no_two_variants_have_one_id_or_run_the_same_work(
    natives: list[Format], more: dict[str, Any], recipes: list[str], own: bool
) -> None:
    one = study(len(natives), preprocessing=recipes, own="pixels" if own else None, **more)
    _, context, _ = planned(one, *natives)
    for what in (context.variants, context.conversions, context.natives):
        assert max(Counter(each.id for each in what).values(), default=0) <= 1
    # A compiled module may be that of two variants: the compiler reads some frameworks through their ONNX.
    work = Counter(variant.execute_jobs for variant in context.variants if variant.engine != "tvm")
    assert max(work.values(), default=1) == 1
    made = Counter(conversion.jobs[-1] for conversion in context.conversions)
    assert max(made.values(), default=1) == 1
    known = {variant.id for variant in context.variants}
    assert {variant.parent for variant in context.variants} <= {*known, None}
    assert {variant.conversion for variant in context.variants} == {
        *(conversion.id for conversion in context.conversions),
        None,
    }


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("target", FRAMEWORKS)
def test_overlapping_ways_to_ask_for_a_conversion_give_one_variant(fmt: Format, target: str) -> None:
    plain = study(engines=["own"])
    _, alone, _ = planned(plain, fmt)
    source = alone.natives[0].info.framework
    if source == target:
        return
    ways = {"pairs": [[source, target]], "chains": [[source, target]], "include_onnx": target == "onnx"}
    if "onnx" not in (source, target):
        ways["chains"] += [[source, "onnx", target]]
    if {source, target} <= {"keras", "tensorflow", "tflite"}:
        ways["routes"] = ["onnx", "direct"]
    _, context, _ = planned(study(engines=["own"], conversions=ways), fmt)
    jobs = Counter(variant.execute_jobs for variant in context.variants)
    assert max(jobs.values()) == 1
    assert Counter(variant.id for variant in context.variants).most_common(1)[0][1] == 1
    direct = (source, target) in {("keras", "tensorflow"), ("keras", "tflite"), ("tensorflow", "tflite")}
    assert len(context.conversions) == (2 if direct else 1)
    assert len(context.variants) == 1 + len(context.conversions)


def test_the_onnx_in_between_is_a_variant_where_no_pair_makes_it_and_the_pairs_own_where_one_does() -> None:
    between = {"include_onnx": True, "pairs": [["pytorch", "keras"]]}
    _, context, _ = planned(study(engines=["own"], conversions=between), "pt2")
    assert [(v.id, v.conversion is not None) for v in context.variants if v.framework == "onnx"] == [
        ("m/pytorch → onnx@onnxruntime", False)
    ]
    both = between | {"pairs": [["pytorch", "onnx"], ["pytorch", "keras"]]}
    _, context, _ = planned(study(engines=["own"], conversions=both), "pt2")
    assert [(v.id, v.conversion) for v in context.variants if v.framework == "onnx"] == [
        ("m/pytorch → onnx@onnxruntime", "m/pytorch → onnx")
    ]


@settings(max_examples=25, deadline=None)
@given(
    natives=st.lists(st.sampled_from(FORMATS), min_size=1, max_size=4, unique=True),
    pairs=st.lists(
        st.tuples(
            st.sampled_from(["pytorch", "keras", "tensorflow", "tflite"]),
            st.sampled_from(["pytorch", "keras", "tensorflow", "tflite", "onnx"]),
        ).filter(lambda pair: pair[0] != pair[1]),
        max_size=5,
        unique=True,
    ),
    levels=st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True),
    pools=st.lists(st.sampled_from(["cpu", "rpi4", "gpu"]), min_size=1, max_size=2, unique=True),
    inputs=st.integers(1, 1200),
)
def test_every_plan_is_sound(
    natives: list[Format], pairs: list[tuple[str, str]], levels: list[int], pools: list[str], inputs: int
) -> None:
    one = study(len(natives), conversions={"pairs": pairs}, compile={"levels": levels}, pools=pools)
    plan, context, _ = planned(one, *natives, inputs=inputs)
    ids = [job.job_id for job in plan.jobs]
    assert len(set(ids)) == len(ids)
    for index, job in enumerate(plan.jobs):
        assert job.index == index
        assert all(edge < index for edge in (*job.needs.values(), *job.after))
        message = JobMessage(sweep=sweep_id(one), index=index, job=job.model_copy(update={"after": ()}))
        assert len(message.model_dump_json()) <= 2048
    assert len({variant.id for variant in context.variants}) == len(context.variants)
    for variant in context.variants:
        assert sum(plan.jobs[i].params["stop"] - plan.jobs[i].params["start"] for i in variant.execute_jobs) == inputs
        assert {plan.jobs[i].queue for i in variant.execute_jobs} == {f"exec.{variant.pool}"}
    assert plan_sweep(one, results(one, tuple(natives), inputs)) == plan
