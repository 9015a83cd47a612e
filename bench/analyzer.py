"""Measures the analyzer's label metrics: 200 variants × 5,500 inputs, all 19,900 pairs, k = 5, RBO depth 5, one core.

usage: bench/analyzer.py [--variants V] [--inputs N] [--subset P] [--json]

Two made data sets: ``typical``, where variants agree on most inputs, and ``worst``, where every list is another one.
The target is under 60 s and 2 GiB. For scale, a plain NumPy version and a plain Python one are timed on a few pairs,
which have to give the same figures, and multiplied up to all.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections.abc import Callable
from itertools import combinations

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
os.environ |= dict.fromkeys(ONE_THREAD, "1")  # before NumPy is imported, which reads them once
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import numpy as np  # noqa: E402
import numpy.typing as npt  # noqa: E402
from deltann_analyzer.metrics.labels import compare_labels  # noqa: E402
from scipy.stats import kendalltau  # type: ignore[import-untyped]  # noqa: E402

K, RBO_P, CLASSES, SEED = 5, 0.9, 1000, 0
TARGET_S, TARGET_MIB = 60.0, 2048.0
Labels = npt.NDArray[np.int32]
Pairs = npt.NDArray[np.int64]
Figures = npt.NDArray[np.float64]
"""[P, 4]: disagreement, Jaccard, RBO, tau."""


def typical(variants: int, inputs: int) -> Labels:
    """Everyone ranks the same classes; a variant swaps two neighbours in 5 % of its inputs and replaces one in 3 %."""
    rng = np.random.default_rng(SEED)
    labels = np.tile(_lists(rng, inputs), (variants, 1, 1))
    for one in labels:
        for row in np.flatnonzero(rng.random(inputs) < 0.05):
            at = rng.integers(K - 1)
            one[row, [at, at + 1]] = one[row, [at + 1, at]]
        changed = np.flatnonzero(rng.random(inputs) < 0.03)
        one[changed, rng.integers(K, size=len(changed))] = CLASSES + rng.integers(CLASSES, size=len(changed))
    return labels


def worst(variants: int, inputs: int) -> Labels:
    """Lists drawn apart, from ten classes, so that nearly every pair of lists shares items in another order."""
    rng = np.random.default_rng(SEED)
    return np.stack([rng.permuted(np.tile(np.arange(10), (inputs, 1)), axis=1)[:, :K] for _ in range(variants)])


def _lists(rng: np.random.Generator, inputs: int) -> Labels:
    return np.stack([rng.choice(CLASSES, K, replace=False) for _ in range(inputs)]).astype(np.int32)


def plain_numpy(labels: Labels, pairs: Pairs) -> Figures:
    """The figures by their definitions, a pair at a time over all inputs."""
    rows = []
    for a, b in pairs:
        same = labels[a][:, :, None] == labels[b][:, None, :]
        shared = same.sum(axis=(1, 2))
        overlap = np.stack([same[:, :depth, :depth].sum(axis=(1, 2)) for depth in range(1, K + 1)], axis=1)
        depths = np.arange(1, K + 1)
        rbo = shared / K * RBO_P**K + (1 - RBO_P) / RBO_P * (overlap / depths * RBO_P**depths).sum(axis=1)
        rank_in_b = np.where(same.any(axis=2), same.argmax(axis=2), K)
        rank_in_a = np.where(same.any(axis=1), same.argmax(axis=1), K)
        alone = ~same.any(axis=1)
        ranks = np.arange(K)
        x = np.concatenate([np.tile(ranks, (len(same), 1)), rank_in_a], axis=1)
        y = np.concatenate([rank_in_b, np.tile(ranks, (len(same), 1))], axis=1)
        there = np.concatenate([np.ones_like(alone), alone], axis=1)
        pair = there[:, :, None] & there[:, None, :]
        dx = np.sign(x[:, :, None] - x[:, None, :]) * pair
        dy = np.sign(y[:, :, None] - y[:, None, :]) * pair
        tau = (dx * dy).sum(axis=(1, 2)) / np.sqrt((dx != 0).sum(axis=(1, 2)) * (dy != 0).sum(axis=(1, 2)))
        differ = labels[a][:, 0] != labels[b][:, 0]
        rows.append((differ.mean(), (shared / (2 * K - shared)).mean(), rbo.mean(), tau.mean()))
    return np.array(rows)


def plain_python(labels: Labels, pairs: Pairs) -> Figures:
    """The same by sets, lists and SciPy, an input at a time."""
    rows = []
    for a, b in pairs:
        each = []
        for one, two in zip(labels[a].tolist(), labels[b].tolist(), strict=True):
            shared, union = set(one) & set(two), sorted(set(one) | set(two))
            rbo = len(shared) / K * RBO_P**K + (1 - RBO_P) / RBO_P * sum(
                len(set(one[:depth]) & set(two[:depth])) / depth * RBO_P**depth for depth in range(1, K + 1)
            )
            x, y = ([ranked.index(item) if item in ranked else K for item in union] for ranked in (one, two))
            each.append((one[0] != two[0], len(shared) / len(union), rbo, kendalltau(x, y).statistic))
        rows.append(np.mean(each, axis=0))
    return np.array(rows)


def ours(labels: Labels, pairs: Pairs) -> Figures:
    found = compare_labels(labels, np.ones(labels.shape[:2], np.bool_), pairs, rbo_p=RBO_P, rbo_depth=K)
    return np.stack([found.top1_disagreement, found.topk_jaccard, found.rbo, found.kendall_tau], axis=1)


def timed(work: Callable[[Labels, Pairs], Figures], labels: Labels, pairs: Pairs) -> tuple[float, Figures]:
    began = time.perf_counter()
    figures = work(labels, pairs)
    return time.perf_counter() - began, figures


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(variants: int, inputs: int, subset: int) -> list[dict[str, object]]:
    pairs = np.array(list(combinations(range(variants), 2)), np.int64)
    made = {"typical": typical(variants, inputs), "worst": worst(variants, inputs)}
    rows = []
    for name, labels in made.items():
        seconds, figures = timed(ours, labels, pairs)
        rows.append({"data": name, "pairs": len(pairs), "seconds": round(seconds, 2), "peak_mib": round(peak_mib())})
        found = dict(
            zip(("disagreement", "jaccard", "rbo", "tau"), figures.mean(axis=0).round(4).tolist(), strict=True)
        )
        rows[-1]["mean"] = found
    few = np.linspace(0, len(pairs) - 1, subset).astype(np.int64)
    for row, (name, labels) in zip(rows, made.items(), strict=True):
        expected = ours(labels, pairs[few])
        for way, work, count in (("numpy", plain_numpy, subset), ("python", plain_python, 1)):
            seconds, figures = timed(work, labels, pairs[few[:count]])
            np.testing.assert_allclose(figures, expected[:count], atol=1e-12, err_msg=f"{way} on {name}")
            row[f"plain_{way}_seconds"] = round(seconds / count * len(pairs), 1)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variants", type=int, default=200)
    parser.add_argument("--inputs", type=int, default=5500)
    parser.add_argument("--subset", type=int, default=20, help="pairs that the plain versions are timed on")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = measure(options.variants, options.inputs, options.subset)
    if options.json:
        print(json.dumps({"variants": options.variants, "inputs": options.inputs, "k": K, "rows": rows}))
        return
    print(f"{options.variants} variants × {options.inputs} inputs, {rows[0]['pairs']} pairs, k = {K}, one core")
    print(f"targets: under {TARGET_S:.0f} s, under {TARGET_MIB:.0f} MiB")
    for row in rows:
        print(
            f"  {row['data']:<8} {row['seconds']:>7} s, peak {row['peak_mib']} MiB; at its own rate plain NumPy "
            f"would take {row['plain_numpy_seconds']} s, plain Python {row['plain_python_seconds']} s"
        )


if __name__ == "__main__":
    main()
