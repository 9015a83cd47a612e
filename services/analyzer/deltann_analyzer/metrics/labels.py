"""Label metrics of many pairs of variants at once, from their top-k labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from deltann_analyzer.metrics.overlap import Floats, Match, all_matches, likeness

Labels = npt.NDArray[np.integer]
Counts = npt.NDArray[np.int64]

_LARGEST_TABLE_K = 5
"""Up to here all matches fit a table that stays in the processor's cache (k = 5: 7,776 rows)."""
_NOT_IN_A, _NOT_IN_B = -1, -2
"""Stand for the labels of invalid inputs, so that they match nothing on the other side."""


@dataclass(frozen=True)
class LabelMetrics:
    """Figures of P pairs, each an array [P]; a mean over no input is NaN.

    ``n`` counts the inputs that are valid on both sides, ``n_invalid_a`` and ``n_invalid_b`` those that are not on
    one; ``n_differ`` those of the n whose first labels differ, ``top1_disagreement`` their share. ``topk_jaccard``,
    ``rbo`` and ``kendall_tau`` are means over the n inputs (tau: over those where it is defined).
    """

    n: Counts
    n_invalid_a: Counts
    n_invalid_b: Counts
    n_differ: Counts
    top1_disagreement: Floats
    topk_jaccard: Floats
    rbo: Floats
    kendall_tau: Floats


def compare_labels(
    labels: Labels,
    valid: npt.NDArray[np.bool_],
    pairs: npt.NDArray[np.integer],
    *,
    rbo_p: float = 0.9,
    rbo_depth: int = 5,
) -> LabelMetrics:
    """Compare pairs of variants by their top-k labels.

    Args:
        labels: [V, N, k] class ids ≥ 0, best first, no class twice in a list. Of invalid inputs they are not looked at.
        valid: [V, N].
        pairs: [P, 2] positions of variants.
        rbo_p: persistence of the rank-biased overlap, in (0, 1).
        rbo_depth: its depth; where k is less, k.

    Raises:
        ValueError: if shapes do not fit, or a list of a valid input names a class twice or a negative one.
    """
    labels, valid = np.asarray(labels), np.asarray(valid, np.bool_)
    pairs = np.asarray(pairs, np.intp).reshape(-1, 2)
    _check(labels, valid)
    sums, n = np.zeros((len(pairs), 5)), np.zeros(len(pairs), np.int64)
    if labels.size and len(pairs):
        depth = min(rbo_depth, labels.shape[2])
        by_item_a, by_item_b = _by_item(labels, valid, _NOT_IN_A), _by_item(labels, valid, _NOT_IN_B)
        judge = _judge(labels.shape[2], rbo_p, depth)
        for row, (a, b) in enumerate(pairs):
            n[row] = np.count_nonzero(valid[a] & valid[b])
            sums[row] = judge(by_item_a[a], by_item_b[b], int(n[row]))
    invalid = (~valid).sum(axis=1)
    return LabelMetrics(
        n=n,
        n_invalid_a=invalid[pairs[:, 0]],
        n_invalid_b=invalid[pairs[:, 1]],
        n_differ=sums[:, 0].astype(np.int64),
        top1_disagreement=_share(sums[:, 0], n),
        topk_jaccard=_share(sums[:, 1], n),
        rbo=_share(sums[:, 2], n),
        kendall_tau=_share(sums[:, 3], sums[:, 4]),
    )


def differing(labels: Labels, valid: npt.NDArray[np.bool_], a: int, b: int) -> npt.NDArray[np.intp]:
    """Positions of the inputs, valid on both sides, whose first labels differ between variants a and b."""
    return np.flatnonzero((labels[a, :, 0] != labels[b, :, 0]) & valid[a] & valid[b])


def match_lists(a: Labels, b: Labels) -> Match:
    """[k, N]: the rank in b of each item of a, 0 for none; a and b are [k, N] lists, one a column."""
    k = len(a)
    match: Match = (a == b[0]).view(np.uint8)
    for rank in range(2, k + 1):
        match += (a == b[rank - 1]).view(np.uint8) * np.uint8(rank)
    return match


def _check(labels: Labels, valid: npt.NDArray[np.bool_]) -> None:
    if labels.ndim != 3 or labels.shape[:2] != valid.shape:
        raise ValueError(f"labels {labels.shape} and valid {valid.shape} are not [V, N, k] and [V, N]")
    if labels.size == 0:
        return
    if labels.shape[2] > np.iinfo(np.uint8).max:
        raise ValueError(f"lists of {labels.shape[2]} labels are too long to compare: at most 255")
    for variant, ok in zip(labels, valid, strict=True):
        lists = np.sort(variant[ok], axis=1)
        if (lists < 0).any() or (lists[:, 1:] == lists[:, :-1]).any():
            raise ValueError("a list of top-k labels names a class twice, or a negative one")


def _by_item(labels: Labels, valid: npt.NDArray[np.bool_], stand_in: int) -> Labels:
    """[V, k, N], in the narrowest type: comparing reads every number many times."""
    narrow = np.int16 if labels.max() <= np.iinfo(np.int16).max else labels.dtype
    marked = np.where(valid[:, :, None], labels, stand_in).astype(narrow)
    return np.ascontiguousarray(marked.transpose(0, 2, 1))


class _Judge(Protocol):
    def __call__(self, a: Labels, b: Labels, n: int, /) -> Floats:
        """[5]: the fields of a Likeness, summed over the n inputs that are valid on both sides."""


def _judge(k: int, rbo_p: float, rbo_depth: int) -> _Judge:
    """By table where it is small enough: then inputs are counted by their match, and the counts weigh the table."""
    if k > _LARGEST_TABLE_K:

        def directly(a: Labels, b: Labels, n: int) -> Floats:
            both = (a[0] != _NOT_IN_A) & (b[0] != _NOT_IN_B)
            match = match_lists(a[:, both], b[:, both])
            figures: Floats = likeness(match, rbo_p=rbo_p, rbo_depth=rbo_depth).table()
            return np.asarray(figures.sum(axis=0))

        return directly

    table = likeness(all_matches(k), rbo_p=rbo_p, rbo_depth=rbo_depth).table()
    digits = (k + 1.0) ** np.arange(k, dtype=np.float32)

    def by_table(a: Labels, b: Labels, n: int) -> Floats:
        codes = (digits @ match_lists(a, b).astype(np.float32)).astype(np.intp)  # below 2^24: exact
        counts = np.bincount(codes, minlength=len(table))
        counts[0] -= a.shape[1] - n  # inputs that are invalid on a side match nothing, and do not count
        sums: Floats = counts @ table
        return sums

    return by_table


def _share(total: Floats, n: npt.NDArray[np.number]) -> Floats:
    share: Floats = np.divide(total, n, out=np.full(len(total), np.nan), where=n > 0)
    return share
