"""Numbers of tensors whose statistics are known by hand."""

import numpy as np
import pytest

from deltann.layers.statistics import statistics


def test_of_four_numbers():
    found = statistics(np.array([[0.0, 3.0], [-4.0, 5.0]], np.float32))
    assert (found.shape, found.mean, found.min, found.max) == ((2, 2), 1.0, -4.0, 5.0)
    assert found.std == pytest.approx(np.sqrt((1 + 4 + 25 + 16) / 4))
    assert found.norm == pytest.approx(np.sqrt(50))
    assert (found.nan, found.inf, found.zero) == (0.0, 0.0, 0.25)


def test_what_is_not_finite_counts_apart():
    found = statistics(np.array([np.nan, np.inf, -np.inf, 2.0]))
    assert (found.mean, found.std, found.min, found.max, found.norm) == (2.0, 0.0, 2.0, 2.0, 2.0)
    assert (found.nan, found.inf, found.zero) == (0.25, 0.5, 0.0)


def test_without_a_finite_number_nothing_is_said():
    found = statistics(np.full((2,), np.nan, np.float32))
    assert (found.mean, found.std, found.min, found.max, found.norm) == (None,) * 5
    assert found.nan == 1.0


def test_large_values_do_not_overflow():
    assert statistics(np.full(4, 3e38, np.float32)).norm == pytest.approx(6e38, rel=1e-6)
