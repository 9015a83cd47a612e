from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from deltann.cli.agreement import Outputs, compare_outputs, kendall_tau, rbo
from deltann.errors import DataError

ranking = st.permutations(range(8)).map(lambda items: np.array(items[:5], dtype=np.int32))


def run(labels: list[list[int]], outputs: list[list[float]] | None = None, **more: object) -> Outputs:
    valid = more.pop("valid", [True] * len(labels))
    return Outputs(
        labels=np.array(labels, dtype=np.int32),
        valid=np.array(valid),
        outputs=None if outputs is None else np.array(outputs, dtype=np.float32),
        **more,  # type: ignore[arg-type]
    )


def test_rbo_of_a_swap_is_webbers_value() -> None:
    # A_1 = 0, A_2 = 1: RBO = 1·p² + (1 − p)/p · (0·p + 1·p²) with p = 0.9
    assert rbo(np.array([1, 2]), np.array([2, 1])) == pytest.approx(0.81 + 0.1 / 0.9 * 0.81)


@given(ranking)
def test_identical_rankings_agree_wholly(a: np.ndarray) -> None:
    assert rbo(a, a) == pytest.approx(1.0)
    assert kendall_tau(a, a) == pytest.approx(1.0)


@given(ranking, ranking)
def test_rbo_and_tau_are_symmetric_and_bounded(a: np.ndarray, b: np.ndarray) -> None:
    assert rbo(a, b) == pytest.approx(rbo(b, a))
    assert 0 <= rbo(a, b) <= 1 + 1e-9
    tau = kendall_tau(a, b)
    assert tau is not None
    assert tau == pytest.approx(kendall_tau(b, a))
    assert -1 <= tau <= 1


@given(ranking, ranking)
def test_tau_is_scipys_tau_b_over_ranks(a: np.ndarray, b: np.ndarray) -> None:
    union = sorted({*a.tolist(), *b.tolist()})
    ranks = [[list(side).index(i) if i in side else len(side) for i in union] for side in (a, b)]
    assert kendall_tau(a, b) == pytest.approx(kendalltau(*ranks).statistic)


def test_tau_does_not_depend_on_which_labels_are_ranked() -> None:
    a, b = np.array([3, 1, 2]), np.array([1, 3, 2])
    assert kendall_tau(a, b) == pytest.approx(kendall_tau(a * 100, b * 100))


def test_compare_counts_labels_and_largest_errors() -> None:
    a = run([[1, 0], [0, 1], [1, 0]], [[0.0, 1.0], [2.0, 1.0], [0.0, 4.0]], ids=("x", "y", "z"))
    b = run([[1, 0], [1, 0], [1, 0]], [[0.0, 1.5], [0.5, 1.0], [0.0, 4.0]], ids=("x", "y", "z"))
    got = compare_outputs(a, b)
    assert got.n == 3
    assert got.top1_disagreement == pytest.approx(1 / 3)
    assert got.differing == ["y"]
    assert got.max_abs == pytest.approx(1.5)
    assert got.max_rel == pytest.approx(0.75)


def test_compare_leaves_invalid_inputs_out_and_counts_them() -> None:
    got = compare_outputs(run([[-1, -1], [0, 1]], valid=[False, True]), run([[0, 1], [0, 1]]))
    assert (got.n, got.n_invalid_a, got.n_invalid_b, got.top1_disagreement) == (1, 1, 0, 0.0)


def test_compare_has_no_errors_across_spaces() -> None:
    a = run([[0, 1]], [[1.0, 0.0]], space="logits")
    b = run([[0, 1]], [[1.0, 0.0]], space="probabilities")
    assert compare_outputs(a, b).max_abs is None


@pytest.mark.parametrize(
    "other", [run([[0, 1], [1, 0]]), run([[0, 1]], ids=("another",))], ids=["other count", "other ids"]
)
def test_compare_refuses_other_inputs(other: Outputs) -> None:
    with pytest.raises(DataError, match="other inputs"):
        compare_outputs(run([[0, 1]], ids=("this",)), other)
