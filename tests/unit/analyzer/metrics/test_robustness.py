"""Measures under attack: known answers, and what is never counted."""

from __future__ import annotations

import numpy as np
import pytest
from deltann_analyzer.metrics.robustness import indicator, local_robustness, under_attack
from hypothesis import given
from hypothesis import strategies as st

ALL = np.ones(4, bool)


def test_an_identity_conversion_has_no_error_and_the_same_success() -> None:
    classes, attacked = np.array([0, 1, 2, 0]), np.array([0, 2, 2, 1])
    outputs = np.arange(12, dtype=np.float32).reshape(4, 3)
    found = under_attack(classes, (classes, classes), (attacked, attacked), (outputs, outputs), ALL)
    assert (found.n, found.success_before, found.success_after) == (4, 0.5, 0.5)
    assert (found.misclassification, found.abs_error) == (0.0, 0.0)


def test_success_never_counts_inputs_wrong_before() -> None:
    classes = np.zeros(4, int)
    clean = (np.array([1, 0, 0, 0]), np.array([0, 1, 0, 0]))  # one wrong in the original, one in the converted
    attacked = (np.array([1, 1, 1, 0]), np.array([1, 1, 0, 0]))
    outputs = (np.zeros((4, 2)), np.array([[9.0, 9.0], [9.0, 9.0], [0.5, 0.0], [0.0, 0.5]]))
    found = under_attack(classes, clean, attacked, outputs, ALL)
    assert (found.n, found.left_out, found.not_tried) == (2, 2, 0)
    assert (found.success_before, found.success_after, found.misclassification) == (0.5, 0.0, 0.5)
    assert found.abs_error == 0.25


def test_what_the_budget_did_not_reach_is_counted_as_such() -> None:
    classes = np.zeros(4, int)
    outputs = (np.zeros((4, 2)), np.zeros((4, 2)))
    attacked = (np.array([1, 1, 0, 0]),) * 2
    found = under_attack(classes, (classes, classes), attacked, outputs, np.array([True, False, False, False]))
    assert (found.n, found.not_tried, found.success_before) == (1, 3, 1.0)
    none = under_attack(classes, (classes, classes), attacked, outputs, ~ALL)
    assert (none.n, none.success_before, none.abs_error) == (0, None, None)


def test_r_by_hand() -> None:
    rates = {
        "fgsm": {"a": (0.5, 0.5), "b": (0.5, 0.6), "c": (0.9, 0.7)},  # differences 0, 0.1, 0.2
        "boundary": {"a": (1.0, 0.6), "b": (1.0, 1.0), "c": (0.8, 1.0)},  # 0.4, 0, 0.2
    }
    assert indicator(rates) == pytest.approx({"a": 1.0, "b": 0.5, "c": 1.5})


def test_r_of_a_constant_column_is_nought() -> None:
    assert indicator({"fgsm": {"a": (0.5, 0.25), "b": (0.75, 0.5)}}) == {"a": 0.0, "b": 0.0}
    assert indicator({"fgsm": {"only": (0.5, 0.25)}}) == {"only": 0.0}


RATE = st.floats(0, 1)


@given(st.dictionaries(st.sampled_from("abc"), st.dictionaries(st.sampled_from("xyz"), RATE, min_size=1)))
def test_r_of_an_identity_is_nought(rates: dict[str, dict[str, float]]) -> None:
    same = {attack: {model: (rate, rate) for model, rate in models.items()} for attack, models in rates.items()}
    assert set(indicator(same).values()) <= {0.0}


def test_local_robustness() -> None:
    assert local_robustness(2, np.array([2, 2, 1, 2])) == 0.75
    with pytest.raises(ValueError, match="no inputs"):
        local_robustness(2, np.array([], int))
