"""Errors of whole outputs: known answers, spaces, and equality over many chunks."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from deltann_analyzer.metrics import outputs
from deltann_analyzer.metrics.outputs import Errors, common_space, output_errors, to_space
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

ALL = np.array([True, True])


def f32(*rows: list[float]) -> np.ndarray:
    return np.array(rows, np.float32)


def test_known_errors() -> None:
    found = output_errors(f32([1, -2], [4, 8]), f32([1.5, -2], [4, 6]), ALL)
    # Absolute 0.5, 0, 0, 2; relative 0.5, 0, 0, 0.25.
    assert found == Errors(abs_mean=0.625, abs_max=2.0, rel_mean=0.1875, rel_max=0.5)


def test_a_reference_of_zero_is_not_divided_by() -> None:
    found = output_errors(f32([0.0, 1.0]), f32([1e-3, 1.0]), np.array([True]))
    assert found is not None
    assert found.rel_max == pytest.approx(1e-3 / 1e-6)
    assert output_errors(f32([0.0]), f32([0.0]), np.array([True])) == Errors(0.0, 0.0, 0.0, 0.0)


def test_invalid_inputs_are_left_out() -> None:
    found = output_errors(f32([1], [math.nan], [3]), f32([2], [5], [math.inf]), np.array([True, False, False]))
    assert found == Errors(1.0, 1.0, 1.0, 1.0)


def test_nothing_to_compare_is_none() -> None:
    a = f32([1, 2], [3, 4])
    assert output_errors(a, a, np.array([False, False])) is None
    assert output_errors(a[:, :0], a[:, :0], ALL) is None
    assert output_errors(a, a, ALL, spaces=("values", "logits")) is None


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\[N, C\]"):
        output_errors(f32([1, 2]), f32([1, 2, 3]), np.array([True]))


def test_sums_are_in_float64() -> None:
    # In float32 a running sum of 2^24 ones stays there for ever.
    n = (1 << 24) + 512
    a = np.broadcast_to(np.float32(0), (n, 1))
    found = output_errors(a, np.broadcast_to(np.float32(1), (n, 1)), np.ones(n, bool))
    assert found is not None
    assert found.abs_mean == 1.0


def test_chunks_of_a_mapped_file_add_up_to_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 101, 7)).astype(np.float32)
    valid = rng.random(101) < 0.7
    np.save(tmp_path / "a.npy", a)
    whole = output_errors(a, b, valid)
    monkeypatch.setattr(outputs, "_CHUNK_VALUES", 30)
    found = output_errors(np.load(tmp_path / "a.npy", mmap_mode="r"), b, valid)
    exact = np.abs(a[valid].astype(float) - b[valid])
    assert found is not None
    assert whole is not None
    assert found.abs_mean == pytest.approx(exact.mean(), rel=1e-12)
    assert found.rel_mean == pytest.approx(whole.rel_mean, rel=1e-12)
    assert (found.abs_max, found.rel_max) == (exact.max(), whole.rel_max)


def test_logits_against_probabilities_are_compared_as_probabilities() -> None:
    logits = f32([0.0, math.log(3)])
    found = output_errors(logits, f32([0.25, 0.70]), np.array([True]), spaces=("logits", "probabilities"))
    assert found is not None
    assert found.abs_max == pytest.approx(0.05, abs=1e-6)
    assert found.abs_mean == pytest.approx(0.025, abs=1e-6)


def test_spaces() -> None:
    assert common_space("logits", "logits") == "logits"
    assert common_space("probabilities", "logits") == common_space("logits", "probabilities") == "probabilities"
    assert common_space("values", "probabilities") is None


def test_softmax_is_not_applied_twice_and_survives_large_logits() -> None:
    probabilities = f32([0.25, 0.75])
    np.testing.assert_array_equal(to_space(probabilities, "probabilities", "probabilities"), probabilities)
    np.testing.assert_allclose(to_space(f32([1000.0, 1000.0]), "logits", "probabilities"), [[0.5, 0.5]])
    with pytest.raises(ValueError, match="no way from probabilities to logits"):
        to_space(probabilities, "probabilities", "logits")


@given(arrays(np.float32, (3, 4), elements=st.floats(-1e6, 1e6, width=32)))
def test_no_error_against_itself_and_the_mean_never_beyond_the_largest(a: np.ndarray) -> None:
    valid = np.ones(3, bool)
    assert output_errors(a, a, valid) == Errors(0.0, 0.0, 0.0, 0.0)
    found = output_errors(a, a[::-1], valid)
    assert found is not None
    assert 0 <= found.abs_mean <= found.abs_max * (1 + 1e-12)
    assert 0 <= found.rel_mean <= found.rel_max * (1 + 1e-12)
