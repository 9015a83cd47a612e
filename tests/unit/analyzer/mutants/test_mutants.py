"""Kills, scores, smallest sets of inputs and devices, from answers that were written down by hand."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from deltann_analyzer.html.mutants import mutant_tables
from deltann_analyzer.measured import Failure, Measured
from deltann_analyzer.mutants import mutation_report
from deltann_analyzer.mutants.cover import smallest
from deltann_analyzer.mutants.kills import kills, stuck
from hypothesis import given, settings
from hypothesis import strategies as st

from deltann.kinds.execute import ExecuteData
from deltann.kinds.mutate import Equivalence
from deltann.outcome import Outcome
from deltann.plan.context import VariantPlan
from deltann.spec.models import Compare

IDS = ["a", "b", "c", "d"]
ORIGINAL = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 3, 2]]


def measured(
    labels: list[list[int]] | None,
    *,
    mutation: str | None = None,
    operator: str = "drop_layer",
    target: str = "x86-64-v2",
    outcome: Outcome = Outcome.OK,
    valid: list[bool] | None = None,
    outputs: Any = None,
    equivalence: Equivalence | None = None,
) -> Measured:
    usual = f"m@tvm O2 {target}"
    plan = VariantPlan(
        id=f"{usual} ~ {mutation}" if mutation else usual,
        model="m",
        instance="onnx",
        source="onnx",
        framework="onnx",
        engine="tvm",
        target=target,
        opt_level=2,
        preprocessing="tf",
        mutation=mutation,
        operator=operator if mutation else None,
        original=usual if mutation else None,
        pool="cpu",
        execute_jobs=(0,),
    )
    failure = None if outcome.usable else Failure(0, outcome, "run", "Error", "it broke")
    found = Measured(plan, outcome, failure, None, None, equivalence=equivalence)
    if labels is not None:
        found.labels = np.array(labels, np.int32)
        found.valid = np.ones(len(labels), np.bool_) if valid is None else np.array(valid)
        found.labels[~found.valid] = -1
        found.executed = ExecuteData(
            n=4, n_invalid=0, space="logits", classes=10, load_ms=1, memory_peak_bytes=1, threads=1, device="cpu"
        )
    if outputs is not None:
        found.outputs = np.array(outputs, np.float32)
    return found


def test_each_criterion_kills_what_it_should() -> None:
    # As it was; second and third exchanged; another third; another first.
    mutant = measured([[1, 2, 3], [4, 6, 5], [7, 8, 0], [3, 1, 2]], mutation="x")
    found = kills(measured(ORIGINAL), mutant, Compare(k=3, rbo_depth=3))
    assert found["top1"].tolist() == [False, False, False, True]
    assert found["topk"].tolist() == [False, False, True, False]
    # RBO of the second (p = 0.9, depth 3): depths overlap by 1, 1/2, 1; of the others less still.
    assert found["rbo"].tolist() == [False, True, True, True]
    # Tau: one of three pairs is turned around, (2 − 1) / 3.
    assert found["tau"].tolist() == [False, True, True, True]
    assert not found["numeric"].any()


def test_outputs_kill_beyond_a_thousandth_of_the_largest() -> None:
    base = np.tile([10.0, -20.0, 0.0], (4, 1))
    shifted = base + np.array([[0.0], [0.019], [0.021], [-1.0]])  # allowed: 0.02
    found = kills(measured(ORIGINAL, outputs=base), measured(ORIGINAL, mutation="x", outputs=shifted), Compare())
    assert found["numeric"].tolist() == [False, False, True, True]


def test_an_answer_that_is_invalid_on_one_side_alone_kills_by_every_criterion() -> None:
    mutant = measured(ORIGINAL, mutation="x", valid=[True, False, True, False])
    original = measured(ORIGINAL, valid=[True, True, True, False])
    assert {name: mask.tolist() for name, mask in kills(original, mutant, Compare()).items()} == {
        name: [False, True, False, False] for name in ("top1", "topk", "rbo", "tau", "numeric")
    }


def test_a_mutant_of_one_answer_is_stuck() -> None:
    assert stuck(measured(ORIGINAL), measured([[1, 2, 3]] * 4, mutation="x"))
    assert not stuck(measured([[1, 2, 3]] * 4), measured([[1, 2, 3]] * 4, mutation="x"))


def report(*mutants: Measured, more: tuple[Measured, ...] = ()) -> Any:
    return mutation_report([measured(ORIGINAL), *more, *mutants], Compare(k=3, rbo_depth=3), [None] * 4, IDS)


def changed(*rows: int) -> list[list[int]]:
    return [[0, 9, 8] if row in rows else labels for row, labels in enumerate(ORIGINAL)]


def test_score_counts_killed_by_those_that_could_be() -> None:
    found = report(
        measured(changed(0), mutation="one"),
        measured(changed(1, 2), mutation="two"),
        measured(ORIGINAL, mutation="survives"),
        measured(ORIGINAL, mutation="same", equivalence=Equivalence(label="equivalent?", probes=64)),
        measured(None, mutation="nowhere", outcome=Outcome.MUTATE_FAILED),
        measured(None, mutation="crashes", outcome=Outcome.CRASHED),
        measured(None, mutation="hangs", outcome=Outcome.TIMED_OUT),
    )
    states = {one.mutation: one.state for one in found.mutants}
    assert states == {
        "one": "killed",
        "two": "killed",
        "survives": "survived",
        "same": "equivalent?",
        "nowhere": "no_mutant",
        "crashes": "killed",
        "hangs": "killed",
    }
    top1 = found.scores[0]
    assert (top1.mutants, top1.killed, top1.score) == (5, 4, 0.8)
    assert (top1.smallest, top1.exact) == (["a", "b"], True)
    (cell,) = found.matrix
    assert (cell.mutants, cell.equivalent, cell.missing, cell.killed["top1"]) == (5, 1, 1, 4)


def test_the_page_shows_what_survives() -> None:
    found = report(
        measured(changed(0), mutation="one"),
        measured(ORIGINAL, mutation="survives"),
        measured(ORIGINAL, mutation="survives too"),
        measured(changed(1), mutation="swapped", operator="swap_weights"),
    )
    page = mutant_tables(found)
    assert page is not None
    assert page["survivors"] == ["m@tvm O2 x86-64-v2 ~ survives", "m@tvm O2 x86-64-v2 ~ survives too"]
    dropped, swapped = (row["cells"][0] for row in page["matrices"][0]["rows"])
    assert (dropped["text"], swapped["text"]) == ("1/3", "1/1")
    assert (dropped["class"], swapped["class"]) == ("h6", "h0")


def test_where_only_crashes_kill_one_input_is_enough() -> None:
    (top1, *_) = report(measured(None, mutation="crashes", outcome=Outcome.CRASHED)).scores
    assert (top1.score, top1.smallest) == (1.0, ["a"])


def test_a_mutant_that_only_one_device_answers_otherwise_is_told_with_its_groups() -> None:
    other, third = (measured(ORIGINAL, target=target) for target in ("x86-64-v4", "armv8"))
    found = report(
        measured(changed(0), mutation="apart"),
        measured(changed(0), mutation="apart", target="x86-64-v4"),
        measured(changed(1, 2), mutation="apart", target="armv8"),
        measured(changed(3), mutation="alike"),
        measured(changed(3), mutation="alike", target="x86-64-v4"),
        more=(other, third),
    )
    apart, alike = found.devices
    assert [len(group) for group in apart.groups] == [2, 1]
    # Answers differ on the inputs 0, 1 and 2 of 4.
    assert (apart.differ, apart.usual, alike.differ, len(alike.groups)) == (0.75, 0.0, 0.0, 1)
    (family,) = found.families
    assert (family.family, family.mutants, family.differing, family.mean, family.max) == (
        "structure", 2, 1, 0.375, 0.75
    )  # fmt: skip


def test_a_sweep_without_mutants_has_no_part_on_them() -> None:
    assert report() is None


@pytest.mark.parametrize(
    ("table", "chosen"),
    [
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 1, 2]),
        # Greedy takes the third, which kills four, and then needs both others; these two alone do.
        ([[1, 0, 0], [1, 0, 1], [1, 0, 1], [0, 1, 1], [0, 1, 1], [0, 1, 0]], [0, 1]),
        ([[0, 0, 0], [0, 1, 1]], [1]),
        ([[0, 0], [0, 0]], []),
    ],
)
def test_the_smallest_set_keeps_every_kill(table: list[list[int]], chosen: list[int]) -> None:
    assert smallest(np.array(table, np.bool_)) == (chosen, True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=1, max_size=8))
def test_the_smallest_set_is_as_small_as_any_that_is_tried(table: list[list[bool]]) -> None:
    found = np.array(table)
    chosen, exact = smallest(found)
    killed = found.any(axis=1)
    assert exact
    assert (found[:, chosen].any(axis=1) == killed).all()
    for size in range(len(chosen)):
        for some in combinations(range(6), size):
            assert (found[:, list(some)].any(axis=1) != killed).any()
