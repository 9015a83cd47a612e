"""Layers whose errors go with changed labels, on numbers whose answer is known."""

import numpy as np
import pytest
from deltann_converter.repair.ranking import LEAST, ranking
from scipy import stats

DIFFERS = np.array([True] * 4 + [False] * 4)


def test_the_layer_that_parts_the_two_kinds_comes_first_and_is_corrected():
    parts = [5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0]
    mixed = [1.0, 2.0, 7.0, 8.0, 3.0, 4.0, 5.0, 6.0]
    found = ranking(np.array([parts, mixed]).T, DIFFERS)
    # Of 8 ranks, 10 against 26: H = 12 / 72 · (10² / 4 + 26² / 4) − 27 = 16/3
    assert found[0] == pytest.approx(2 * stats.chi2.sf(16 / 3, 1))
    assert found[1] > 0.5


def test_an_infinite_error_is_the_largest():
    finite = np.array([[5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0]]).T
    infinite = finite.copy()
    infinite[3] = np.inf
    assert ranking(infinite, DIFFERS) == ranking(finite, DIFFERS)


def test_equal_errors_say_nothing():
    assert ranking(np.ones((8, 1)), DIFFERS) == [1.0]


def test_too_few_of_a_kind_are_not_tested():
    differs = np.array([True] * (LEAST - 1) + [False] * 6)
    assert ranking(np.random.default_rng(0).normal(size=(len(differs), 3)), differs) is None
