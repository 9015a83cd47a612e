"""Times: known answers, the bootstrap interval against what it has to hold, and the degenerate cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from deltann_analyzer.metrics import timing
from deltann_analyzer.metrics.timing import compare_times, summarise
from hypothesis import given, settings
from hypothesis import strategies as st


def ms(*rows: list[float]) -> np.ndarray:
    return (np.array(rows) * 1e6).round().astype(np.int64)


def noisy(seed: int, level_ms: float = 10.0, inputs: int = 10, repeats: int = 10, spread: float = 0.02) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (level_ms * 1e6 * (1 + spread * rng.normal(size=(inputs, repeats)))).astype(np.int64)


def test_known_summary() -> None:
    found = summarise(ms([1, 3, 5], [2, 4, 100]), 7_000_000)
    assert (found.median, found.first, found.n) == (3.5, 7.0, 6)
    assert found.mean == pytest.approx(115 / 6)
    assert found.std == pytest.approx(np.std([1, 2, 3, 4, 5, 100], ddof=1))
    # Position 4.75 and 4.95 of 0..5: between 5 and 100.
    assert (found.p95, found.p99) == (pytest.approx(5 + 0.75 * 95), pytest.approx(5 + 0.95 * 95))


def test_the_last_inference_is_the_last_repeat_of_the_last_input() -> None:
    assert summarise(ms([1, 3], [2, 4]), 0).nth == 4.0
    assert summarise(ms([1, 9], [2, 8]), 0).nth == 8.0


def test_drift_follows_the_rounds_and_is_in_percent_of_the_beginning() -> None:
    run = np.linspace(10.0, 11.0, 30)  # as taken: round by round over 3 inputs
    assert summarise(ms(*run.reshape(10, 3).T.tolist()), 0).drift_pct == pytest.approx(10.0, abs=1e-3)
    assert summarise(ms(*run[::-1].reshape(10, 3).T.tolist()), 0).drift_pct == pytest.approx(-100 / 11, abs=1e-3)


def test_inputs_of_unlike_cost_are_no_drift() -> None:
    assert summarise(ms([10.0] * 20, [20.0] * 20, [15.0] * 20), 0).drift_pct == pytest.approx(0.0, abs=1e-9)


def test_a_burst_is_no_drift() -> None:
    run = np.full(100, 10.0)
    run[80:90] = 50.0
    assert summarise(ms(*run.reshape(10, 10).T.tolist()), 0).drift_pct == pytest.approx(0.0, abs=1e-9)


def test_drift_of_a_long_run_is_found_on_its_stretches() -> None:
    run = np.linspace(10.0, 12.0, 3001)
    assert summarise(ms(*run[:, None].T.tolist()), 0).drift_pct == pytest.approx(20.0, abs=1e-4)


def test_a_single_inference() -> None:
    found = summarise(ms([4]), 5_000_000)
    assert (found.median, found.mean, found.p99, found.nth, found.n) == (4.0, 4.0, 4.0, 4.0, 1)
    assert math.isnan(found.std)
    assert math.isnan(found.drift_pct)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3,)])
def test_no_times_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="at least one"):
        summarise(np.zeros(shape, np.int64), 0)


def test_known_changes() -> None:
    found = compare_times(ms([10, 10], [10, 30]), ms([15, 15], [5, 45]), seed=0)
    assert found.change_pct == pytest.approx(50.0)
    assert found.change_mean_pct == pytest.approx((20 - 15) / 15 * 100)
    assert found.n_slower == 2  # medians 10 → 15 and 20 → 25


def test_an_input_that_is_as_fast_as_before_is_not_slower() -> None:
    assert compare_times(ms([10, 10], [20, 20]), ms([10, 10], [19, 19]), seed=0).n_slower == 0


def test_equal_times_have_no_change_and_no_evidence() -> None:
    found = compare_times(ms([5] * 10), ms([5] * 10), seed=0)
    assert (found.change_pct, found.ci95_pct, found.p_value, found.n_slower) == (0.0, (0.0, 0.0), 1.0, 0)


def test_constant_but_unlike_times_have_an_interval_of_no_width() -> None:
    found = compare_times(ms(*[[10] * 8] * 5), ms(*[[14] * 8] * 5), seed=0)
    assert found.ci95_pct == (pytest.approx(40.0), pytest.approx(40.0))
    assert found.p_value < 1e-9
    assert found.n_slower == 5


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (3, 2)])
def test_few_inputs_or_repeats_still_have_a_finite_interval(shape: tuple[int, int]) -> None:
    found = compare_times(noisy(1, 10, *shape), noisy(2, 20, *shape), seed=0)
    low, high = found.ci95_pct
    assert low <= found.change_pct <= high
    assert low > 90
    assert high < 110
    assert 0 <= found.p_value <= 1


def test_a_reference_of_zero_has_no_change() -> None:
    found = compare_times(np.zeros((2, 6), np.int64), ms([1] * 6, [1] * 6), seed=0)
    assert math.isnan(found.change_pct)
    assert math.isnan(found.change_mean_pct)
    assert all(map(math.isnan, found.ci95_pct))


def test_sides_of_unlike_size_pair_the_inputs_they_share() -> None:
    found = compare_times(ms([10] * 6, [10] * 6, [10] * 6), ms([11] * 8, [12] * 8), seed=0)
    assert (found.n_slower, found.change_pct) == (2, pytest.approx(15.0))


def test_the_same_seed_gives_the_same_interval_and_another_one_another() -> None:
    a, b = noisy(1), noisy(2, 10.5)
    first = compare_times(a, b, seed=3)
    timing._resampled_medians.cache_clear()
    assert compare_times(a, b, seed=3) == first
    assert compare_times(a, b, seed=4).ci95_pct != first.ci95_pct


def test_sides_are_drawn_apart() -> None:
    # Drawn alike, a side against itself would have no uncertainty.
    low, high = compare_times(noisy(1), noisy(1), seed=0).ci95_pct
    assert low < 0 < high


def test_the_resampled_median_is_the_median_of_what_was_drawn() -> None:
    # Rounds, of an odd and an even number of times; single inferences; more blocks than are searched, of either.
    for shape in ((3, 6), (3, 7), (4, 2), (40, 5), (2, 70), (70, 1)):
        ns = np.random.default_rng(9).integers(1, 50, shape)
        found = timing._resampled_medians(ns.tobytes(), shape, 5, 1, 40)
        blocks = ns.T if shape[1] >= 5 else ns.reshape(-1, 1)
        count = len(blocks)
        drawn = np.random.default_rng([5, 1]).multinomial(count, np.full(count, 1 / count), 40)
        expected = [np.median(np.repeat(blocks, times, axis=0)) for times in drawn]
        np.testing.assert_array_equal(found, expected)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_both_ways_to_the_median_agree(count: int, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    owner = rng.permutation(np.repeat(np.arange(count), size))
    drawn = rng.multinomial(count, np.full(count, 1 / count), 20)
    for place in (0, count * size // 2, count * size - 1):
        by_search = timing._reach_by_search(drawn, owner, place)
        np.testing.assert_array_equal(by_search, timing._reach_by_sum(drawn, owner, place))
        straight = [np.repeat(np.arange(len(owner)), row[owner])[place] for row in drawn]
        np.testing.assert_array_equal(by_search, straight)


def test_the_interval_holds_the_true_change_about_as_often_as_it_says() -> None:
    held = 0
    for run in range(100):
        low, high = compare_times(noisy(2 * run), noisy(2 * run + 1, 11.0), seed=run, samples=400).ci95_pct
        held += low <= 10.0 <= high
    assert 85 <= held <= 100


def test_noise_in_bursts_widens_the_interval() -> None:
    rng = np.random.default_rng(0)
    rounds = 10 * (1 + 0.05 * rng.normal(size=(2, 12)))
    bursts = [ms(*[(side * (1 + 0.001 * rng.normal(size=12))).tolist() for _ in range(10)]) for side in rounds]
    shuffled = [rng.permutation(side.reshape(-1)).reshape(side.shape) for side in bursts]
    widths = [high - low for low, high in (compare_times(*sides, seed=0).ci95_pct for sides in (bursts, shuffled))]
    assert widths[0] > 1.5 * widths[1]


def test_p_value_tells_a_shift_from_none() -> None:
    assert compare_times(noisy(1), noisy(2), seed=0).p_value > 0.01
    assert compare_times(noisy(1), noisy(2, 10.5), seed=0).p_value < 1e-6


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 10**9), min_size=6, max_size=6), min_size=1, max_size=4),
    st.sampled_from([2, 3, 7]),
)
def test_units_cancel_out(rows: list[list[int]], factor: int) -> None:
    a = np.array(rows, np.int64)
    b = a[:, ::-1] + 5
    found, scaled = compare_times(a, b, seed=0, samples=50), compare_times(a * factor, b * factor, seed=0, samples=50)
    assert scaled.change_pct == pytest.approx(found.change_pct)
    assert scaled.ci95_pct == pytest.approx(found.ci95_pct)
    assert (scaled.n_slower, scaled.p_value) == (found.n_slower, pytest.approx(found.p_value))
