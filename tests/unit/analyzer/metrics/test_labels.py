"""Label metrics: known answers, what always holds, and equality with the straight way."""

from __future__ import annotations

import dataclasses
from itertools import combinations, permutations
from random import Random

import numpy as np
import numpy.typing as npt
import pytest
import straight
from deltann_analyzer.metrics.labels import LabelMetrics, compare_labels, differing, match_lists
from hypothesis import given, settings
from hypothesis import strategies as st


def two(a: list[list[int]], b: list[list[int]], valid: list[list[bool]] | None = None, **more: float) -> LabelMetrics:
    labels = np.array([a, b], np.int32)
    ok = np.ones(labels.shape[:2], bool) if valid is None else np.array(valid)
    return compare_labels(labels, ok, np.array([[0, 1]]), **more)  # type: ignore[arg-type]


@st.composite
def cases(draw: st.DrawFn, max_k: int = 8) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Labels [V, N, k] out of few classes, so that lists share items, and which of them are valid."""
    k, variants, n = draw(st.integers(1, max_k)), draw(st.integers(1, 4)), draw(st.integers(0, 6))
    one = st.permutations(range(k + 3)).map(lambda order: order[:k])
    lists = draw(st.lists(st.lists(one, min_size=n, max_size=n), min_size=variants, max_size=variants))
    valid = draw(st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=variants, max_size=variants))
    labels = np.array(lists, np.int32).reshape(variants, n, k)
    ok = np.array(valid, bool).reshape(variants, n)
    labels[~ok] = -1
    return labels, ok


def every_pair(variants: int) -> npt.NDArray[np.int64]:
    return np.array([(a, b) for a in range(variants) for b in range(variants)], np.int64)


def test_identical_lists_give_exactly_one() -> None:
    for k in (1, 2, 3, 5, 6, 12):
        lists = [np.random.default_rng(k).permutation(50)[:k].tolist() for _ in range(7)]
        for p in (0.1, 0.5, 0.9, 0.98):
            found = two(lists, lists, rbo_p=p, rbo_depth=k)
            assert (found.topk_jaccard[0], found.rbo[0], found.top1_disagreement[0], found.n[0]) == (1.0, 1.0, 0.0, 7)
            assert np.isnan(found.kendall_tau[0]) if k == 1 else found.kendall_tau[0] == 1.0


def test_disjoint_lists() -> None:
    found = two([[0, 1, 2, 3, 4]], [[5, 6, 7, 8, 9]])
    assert (found.n_differ[0], found.topk_jaccard[0], found.rbo[0]) == (1, 0.0, 0.0)
    # 45 pairs: 10 tied in each ranking, 25 discordant, none concordant: −25 / √(35 · 35).
    assert found.kendall_tau[0] == pytest.approx(-25 / 35)


def test_two_swapped_neighbours() -> None:
    # Overlaps 0, 2, 3 at depths 1 to 3: ½³ + 1 · (0/1 · ½ + 2/2 · ¼ + 3/3 · ⅛) = ½. Of 3 pairs one is discordant.
    found = two([[1, 2, 3]], [[2, 1, 3]], rbo_p=0.5, rbo_depth=3)
    assert found.rbo[0] == pytest.approx(0.5)
    assert found.kendall_tau[0] == pytest.approx(1 / 3)
    assert (found.topk_jaccard[0], found.top1_disagreement[0]) == (1.0, 1.0)


def test_last_item_replaced() -> None:
    # Overlaps 1, 1 at depths 1 and 2: ½ · ¼ + ½ + ½ · ¼ = ¾. Ranks over the union {1, 2, 3}: 1 2 3 and 1 3 2.
    found = two([[1, 2]], [[1, 3]], rbo_p=0.5, rbo_depth=2)
    assert found.rbo[0] == pytest.approx(0.75)
    assert found.kendall_tau[0] == pytest.approx(1 / 3)
    assert (found.topk_jaccard[0], found.n_differ[0]) == (pytest.approx(1 / 3), 0)


def test_reversed_list_has_a_tau_of_minus_one() -> None:
    assert two([[1, 2, 3, 4, 5]], [[5, 4, 3, 2, 1]]).kendall_tau[0] == -1.0


def test_tau_looks_at_ranks_and_never_at_label_ids() -> None:
    a, b = [[3, 1, 4, 2, 9]], [[1, 3, 4, 9, 7]]
    renamed = {1: 900, 2: 5, 3: 17, 4: 0, 7: 333, 9: 41}
    found, again = two(a, b), two([[renamed[x] for x in a[0]]], [[renamed[x] for x in b[0]]])
    assert found.kendall_tau[0] == again.kendall_tau[0] == pytest.approx(straight.tau(a[0], b[0]))


def test_tau_of_single_labels_is_known_only_where_they_differ() -> None:
    found = two([[1], [2], [3]], [[1], [2], [9]], rbo_depth=1)
    assert found.kendall_tau[0] == -1.0
    assert (found.top1_disagreement[0], found.rbo[0]) == (pytest.approx(1 / 3), pytest.approx(2 / 3))


def test_depth_beyond_k_is_k_and_a_smaller_one_looks_no_deeper() -> None:
    a, b = [[1, 2, 3]], [[1, 2, 9]]
    assert two(a, b, rbo_depth=50).rbo[0] == two(a, b, rbo_depth=3).rbo[0] < 1.0
    assert two(a, b, rbo_depth=2).rbo[0] == 1.0


def test_invalid_inputs_count_on_their_side_only() -> None:
    a = [[1, 2], [-1, -1], [5, 6], [-1, -1]]
    b = [[1, 2], [3, 4], [-1, -1], [-1, -1]]
    found = two(a, b, [[True, False, True, False], [True, True, False, False]])
    assert (found.n[0], found.n_invalid_a[0], found.n_invalid_b[0], found.n_differ[0]) == (1, 2, 2, 0)
    assert (found.topk_jaccard[0], found.rbo[0], found.kendall_tau[0]) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("k", [2, 7])
def test_labels_of_invalid_inputs_are_not_looked_at(k: int) -> None:
    rng = np.random.default_rng(3)
    labels = rng.permuted(np.tile(np.arange(12), (2, 30, 1)), axis=2)[:, :, :k].astype(np.int32)
    valid = rng.random((2, 30)) < 0.6
    expected = compare_labels(labels, valid, np.array([[0, 1]]))
    for rubbish in (-1, 0, 2**31 - 1):
        spoilt = np.where(valid[:, :, None], labels, rubbish).astype(np.int32)
        _assert_same(compare_labels(spoilt, valid, np.array([[0, 1]])), expected)


def test_no_valid_input_gives_nan_and_counts() -> None:
    found = two([[1, 2]], [[1, 2]], [[True], [False]])
    assert (found.n[0], found.n_invalid_a[0], found.n_invalid_b[0], found.n_differ[0]) == (0, 0, 1, 0)
    assert all(np.isnan(getattr(found, name)[0]) for name in _MEANS)


def test_no_pairs_and_no_inputs() -> None:
    nothing = compare_labels(np.zeros((2, 3, 5), np.int32) + np.arange(5), np.ones((2, 3), bool), np.empty((0, 2)))
    assert all(len(getattr(nothing, field.name)) == 0 for field in dataclasses.fields(nothing))
    empty = compare_labels(np.empty((2, 0, 5), np.int32), np.ones((2, 0), bool), np.array([[0, 1]]))
    assert (empty.n[0], np.isnan(empty.rbo[0])) == (0, True)


@pytest.mark.parametrize("lists", [[[1, 1]], [[1, -1]]])
def test_a_list_that_names_a_class_twice_or_none_is_refused(lists: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="twice, or a negative one"):
        two(lists, [[1, 2]])


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\[V, N, k\]"):
        compare_labels(np.zeros((2, 3, 1), np.int32), np.ones((3, 2), bool), np.array([[0, 1]]))


def test_ids_beyond_16_bits_are_told_apart() -> None:
    # 65,537 and 1 are the same number in 16 bits.
    assert two([[65_537, 2]], [[1, 2]]).n_differ[0] == 1


def test_every_match_of_two_lists_of_three_equals_the_straight_way() -> None:
    lists = list(permutations(range(6), 3))
    a = [[0, 1, 2]] * len(lists)
    for row, other in enumerate(lists):
        found = two([a[row]], [list(other)], rbo_p=0.7, rbo_depth=2)
        assert found.rbo[0] == pytest.approx(straight.rbo(a[row], other, 0.7, 2))
        assert found.kendall_tau[0] == pytest.approx(straight.tau(a[row], other))
        assert found.topk_jaccard[0] == pytest.approx(straight.jaccard(a[row], other))


@settings(max_examples=80, deadline=None)
@given(cases(), st.floats(0.05, 0.99), st.integers(1, 9))
def test_equals_the_straight_way(
    case: tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]], p: float, depth: int
) -> None:
    labels, valid = case
    pairs = every_pair(len(labels))
    found = compare_labels(labels, valid, pairs, rbo_p=p, rbo_depth=depth)
    for row, (a, b) in enumerate(pairs):
        expected = straight.compare(labels, valid, a, b, p, min(depth, labels.shape[2]))
        for name, value in expected.items():
            assert getattr(found, name)[row] == pytest.approx(value, abs=1e-12, nan_ok=True), name


@settings(max_examples=60, deadline=None)
@given(cases(), st.randoms(use_true_random=False))
def test_what_always_holds(case: tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]], random: Random) -> None:
    labels, valid = case
    pairs = np.array(list(combinations(range(len(labels)), 2)), np.int64).reshape(-1, 2)
    found = compare_labels(labels, valid, pairs)
    for name in ("top1_disagreement", "topk_jaccard", "rbo"):
        known = getattr(found, name)[found.n > 0]
        assert ((known >= 0) & (known <= 1)).all()
    tau = found.kendall_tau[~np.isnan(found.kendall_tau)]
    assert (np.abs(tau) <= 1).all()
    # Either side may be the reference, the inputs may come in any order, and any pair may stand alone.
    turned = compare_labels(labels, valid, pairs[:, ::-1])
    swapped = dataclasses.replace(turned, n_invalid_a=turned.n_invalid_b, n_invalid_b=turned.n_invalid_a)
    _assert_same(swapped, found)
    order = np.array(random.sample(range(labels.shape[1]), labels.shape[1]), np.intp)
    _assert_same(compare_labels(labels[:, order], valid[:, order], pairs), found)
    for row, pair in enumerate(pairs):
        alone = compare_labels(labels, valid, pair[None])
        assert alone.n_differ[0] == found.n_differ[row] == len(differing(labels, valid, *pair))


def test_both_ways_agree_on_many_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    labels, valid = _many(5)
    pairs = every_pair(len(labels))
    by_table = compare_labels(labels, valid, pairs, rbo_depth=4)
    monkeypatch.setattr("deltann_analyzer.metrics.labels._LARGEST_TABLE_K", 0)
    _assert_same(compare_labels(labels, valid, pairs, rbo_depth=4), by_table)


def test_long_lists_are_compared_too() -> None:
    labels, valid = _many(100)
    found = compare_labels(labels[:2, :5], valid[:2, :5] | True, np.array([[0, 1]]), rbo_depth=100)
    expected = straight.compare(labels[:2, :5], valid[:2, :5] | True, 0, 1, 0.9, 100)
    assert (found.rbo[0], found.kendall_tau[0]) == (
        pytest.approx(expected["rbo"]), pytest.approx(expected["kendall_tau"]),
    )  # fmt: skip


def test_differing_names_the_inputs() -> None:
    labels = np.array([[[1, 2], [3, 4], [5, 6], [7, 8]], [[2, 1], [3, 9], [6, 5], [8, 7]]], np.int32)
    valid = np.array([[True, True, True, True], [True, True, False, True]])
    assert differing(labels, valid, 0, 1).tolist() == [0, 3]


def test_match_lists_gives_ranks_in_the_second_list() -> None:
    a, b = np.array([[4], [7], [9]]), np.array([[9], [4], [1]])
    assert match_lists(a, b)[:, 0].tolist() == [2, 0, 1]


_MEANS = ("top1_disagreement", "topk_jaccard", "rbo", "kendall_tau")


def _many(k: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    rng = np.random.default_rng(5)
    classes = 2 * k + 1
    labels = rng.permuted(np.tile(np.arange(classes, dtype=np.int32), (4, 500, 1)), axis=2)[:, :, :k]
    valid = rng.random((4, 500)) < 0.9
    return np.where(valid[:, :, None], labels, -1), valid


def _assert_same(found: LabelMetrics, expected: LabelMetrics) -> None:
    for field in dataclasses.fields(found):
        np.testing.assert_allclose(getattr(found, field.name), getattr(expected, field.name), atol=1e-12)
