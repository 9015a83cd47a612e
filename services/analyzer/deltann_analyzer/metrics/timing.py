"""What single timings sum up to, and whether one variant is slower than another.

Times are ``ns`` int64 [inputs, repeats] in nanoseconds. They are taken in rounds: repeat r of every input, then repeat
r + 1 of every input, so the columns are consecutive stretches of time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.stats import mannwhitneyu, theilslopes  # type: ignore[import-untyped]

Nanoseconds = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int64]

_NS_PER_MS = 1e6
_MIN_ROUNDS = 5
_MAX_DRIFT_POINTS = 200
_MAX_SEARCHED_BLOCKS = 64


@dataclass(frozen=True)
class TimeSummary:
    """Milliseconds of one inference, over all n of them.

    ``std`` is the sample's (NaN for a single inference); percentiles are interpolated linearly. ``first`` is the
    inference before the warm-up, ``nth`` the last of all. ``drift_pct`` is how much slower the run became from its
    first to its last inference, in percent of its beginning, along the Theil–Sen line (NaN for a single inference).
    """

    median: float
    mean: float
    std: float
    p95: float
    p99: float
    first: float
    nth: float
    drift_pct: float
    n: int


@dataclass(frozen=True)
class TimeComparison:
    """How b's times differ from a's: (b − a) / a × 100, positive where b is slower.

    ``ci95_pct`` bounds ``change_pct``, the change of the medians. ``p_value`` is Mann and Whitney's, two-sided, over
    single inferences, which it takes for independent: bursts of noise make it smaller than it should be, so judge by
    the interval. ``n_slower`` counts inputs whose median is slower in b. NaN where a median or mean of a is zero.
    """

    change_pct: float
    change_mean_pct: float
    ci95_pct: tuple[float, float]
    p_value: float
    n_slower: int


def summarise(ns: Nanoseconds, first_ns: int) -> TimeSummary:
    """Sum up the times of one variant.

    Raises:
        ValueError: if there are none.
    """
    run = _in_order(ns) / _NS_PER_MS
    p95, p99 = np.percentile(run, [95, 99])
    return TimeSummary(
        median=float(np.median(run)),
        mean=float(run.mean()),
        std=float(run.std(ddof=1)) if run.size > 1 else float("nan"),
        p95=float(p95),
        p99=float(p99),
        first=first_ns / _NS_PER_MS,
        nth=float(run[-1]),
        drift_pct=_drift_pct(run),
        n=run.size,
    )


def compare_times(a: Nanoseconds, b: Nanoseconds, *, seed: int, samples: int = 2000) -> TimeComparison:
    """Compare the times of two variants on the same inputs.

    The interval is a percentile bootstrap of the change of medians: on each side on its own, whole rounds are drawn
    with replacement. A round is one stretch of time over every input, so that bursts of noise stay together (single
    inferences would feign more certainty than there is) and every draw has each input equally often. With fewer than 5
    rounds single inferences are drawn all the same. With few rounds the interval is somewhat short: under noise that
    lasts for ten inferences, ten rounds of ten gave one that held the true change in 80 of 100 runs (single inferences:
    41). The same seed gives the same interval.

    Args:
        a: [inputs, repeats], the reference.
        b: [inputs, repeats]; inputs that only one side has count everywhere but in ``n_slower``.
        seed: of the bootstrap.
        samples: number of bootstrap samples.

    Raises:
        ValueError: if a side has no times.
    """
    run_a, run_b = _in_order(a), _in_order(b)
    medians = (_resampled_medians(side.tobytes(), side.shape, seed, at, samples) for at, side in enumerate((a, b)))
    changes = _change_pct(*medians)
    low, high = np.quantile(changes, [0.025, 0.975])
    paired = min(len(a), len(b))
    return TimeComparison(
        change_pct=float(_change_pct(np.median(run_a), np.median(run_b))),
        change_mean_pct=float(_change_pct(run_a.mean(), run_b.mean())),
        ci95_pct=(float(low), float(high)),
        p_value=_p_value(run_a, run_b),
        n_slower=int((np.median(b[:paired], axis=1) > np.median(a[:paired], axis=1)).sum()),
    )


def _in_order(ns: Nanoseconds) -> Nanoseconds:
    """[inputs × repeats] as they were taken."""
    if ns.ndim != 2 or not ns.size:
        raise ValueError(f"times {ns.shape} are not [inputs, repeats] with at least one of each")
    return ns.T.reshape(-1)


def _drift_pct(run: npt.NDArray[np.float64]) -> float:
    """Along the median of all slopes between two points; long runs are cut into stretches, each one point."""
    if run.size < 2:
        return float("nan")
    stretches = np.array_split(run, min(run.size, _MAX_DRIFT_POINTS))
    length = np.array([len(stretch) for stretch in stretches])
    middle = np.cumsum(length) - (length + 1) / 2
    slope, begin, *_ = theilslopes([np.median(stretch) for stretch in stretches], middle)
    return float(_change_pct(np.float64(begin), begin + slope * (run.size - 1)))


def _change_pct(a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """(b − a) / a × 100; NaN where a is not positive."""
    before, after = np.asarray(a, np.float64), np.asarray(b, np.float64)
    change: npt.NDArray[np.float64] = np.full(before.shape, np.nan)
    return np.divide(100 * (after - before), before, out=change, where=before > 0)


@lru_cache(maxsize=2048)
def _resampled_medians(
    times: bytes, shape: tuple[int, int], seed: int, side: int, samples: int
) -> npt.NDArray[np.float64]:
    """[samples] medians. Kept, since a variant is in many pairs; the sides draw apart.

    A sample is how often each block was drawn. Its median is found along the sorted times without sorting again.
    """
    ns = np.frombuffer(times, np.int64).reshape(shape)
    blocks = ns.T if ns.shape[1] >= _MIN_ROUNDS else ns.reshape(-1, 1)
    count, size = blocks.shape
    order = np.argsort(blocks, axis=None, kind="stable")
    ordered, owner = blocks.reshape(-1)[order], order // size
    drawn = np.random.default_rng([seed, side]).multinomial(count, np.full(count, 1 / count), samples)
    reach = _reach_by_search if count <= _MAX_SEARCHED_BLOCKS else _reach_by_sum
    lower, upper = (reach(drawn, owner, place) for place in ((ns.size - 1) // 2, ns.size // 2))
    medians: npt.NDArray[np.float64] = (ordered[lower] + ordered[upper]) / 2
    medians.flags.writeable = False
    return medians


def _reach_by_search(drawn: Counts, owner: Counts, place: int) -> npt.NDArray[np.intp]:
    """Where along the sorted times each sample [samples, blocks] has more than ``place`` of its own, by bisection.

    ``owner`` [times] is the block of each sorted time. Takes blocks × times of memory, and log(times) steps.
    """
    up_to = np.cumsum(owner[:, None] == np.arange(drawn.shape[1]), axis=0, dtype=np.int32)
    low, high = np.zeros(len(drawn), np.intp), np.full(len(drawn), len(owner) - 1)
    while (low < high).any():
        middle = (low + high) // 2
        reached = np.einsum("sb,sb->s", drawn, up_to[middle]) > place
        low, high = np.where(reached, low, middle + 1), np.where(reached, middle, high)
    return low


def _reach_by_sum(drawn: Counts, owner: Counts, place: int) -> npt.NDArray[np.intp]:
    """The same for many blocks, along all times, some samples at once."""
    step = max(1, (1 << 20) // len(owner))
    some = (drawn[start : start + step, owner] for start in range(0, len(drawn), step))
    return np.concatenate([(np.cumsum(of, axis=1) <= place).sum(axis=1) for of in some])


def _p_value(a: Nanoseconds, b: Nanoseconds) -> float:
    """Two-sided; 1 where all times are equal, which the normal approximation cannot say."""
    if min(a.min(), b.min()) == max(a.max(), b.max()):
        return 1.0
    return float(mannwhitneyu(a, b, method="asymptotic").pvalue)
