"""How alike two ranked lists of the same length are, given where each item of one stands in the other.

Everything that is asked of two top-k lists (same first item, Jaccard, RBO, Kendall's tau) depends on nothing but their
*match*: for each item of the first list, its rank in the second, 1 to k, or 0 where it is not there. There are fewer
than (k + 1)^k matches, so that for a small k all of them are judged once and then looked up.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Match = npt.NDArray[np.uint8]
"""[k, M]: in column m, for each item of the first list, best first, its rank in the second; 0 for none."""


@dataclass(frozen=True)
class Likeness:
    """Figures of M matches, each [M]. ``tau`` is 0 where ``tau_known`` is not 1, so that both can be summed up."""

    differ: Floats
    jaccard: Floats
    rbo: Floats
    tau: Floats
    tau_known: Floats

    def table(self) -> Floats:
        """[M, 5]: the fields, in order, as columns."""
        return np.stack([getattr(self, field.name) for field in fields(self)], axis=1)


def likeness(match: Match, *, rbo_p: float, rbo_depth: int) -> Likeness:
    """Judge every match.

    - ``differ``: 1 where the first items are not the same;
    - ``jaccard``: shared items by items in either list;
    - ``rbo``: extrapolated rank-biased overlap at ``rbo_depth`` ≤ k (Webber, Moffat and Zobel 2010, equation 32), 1 for
      identical lists and 0 for lists without a shared item;
    - ``tau``: Kendall's tau-b of the two rankings of all items in either list, where an item that a list lacks has
      rank k + 1 in it; unknown where that is a constant ranking, which takes k = 1 and the same item.
    """
    k = len(match)
    shared = (match > 0).sum(axis=0, dtype=np.int64)
    tau, known = _kendall_tau(match, shared)
    return Likeness(
        differ=(match[0] != 1).astype(np.float64),
        jaccard=shared / (2 * k - shared),
        rbo=_rbo(match, rbo_p, rbo_depth),
        tau=tau,
        tau_known=known,
    )


def all_matches(k: int) -> Match:
    """[k, (k + 1)^k]: the column of code c is the match whose digits to the base k + 1 make c, first item lowest.

    Columns in which a rank comes twice stand for no pair of lists; no code leads to them.
    """
    codes = np.arange((k + 1) ** k)
    return np.stack([codes // (k + 1) ** item % (k + 1) for item in range(k)]).astype(np.uint8)


def _rbo(match: Match, p: float, depth: int) -> Floats:
    """Equation 32 summed by item instead of by depth.

    An item at ranks i and j is in the overlap of every depth d ≥ h = max(i, j), so it brings
    W(h) = Σ_{d=h..D} (1 − p) p^(d−1) / d + p^D / D. Dividing by the sum of identical lists, which is 1 but for
    rounding, makes it 1.
    """
    steps = np.arange(1, depth + 1)
    brings = np.cumsum(((1 - p) * p ** (steps - 1.0) / steps)[::-1])[::-1] + p**depth / depth
    weight = np.concatenate([brings, [0.0] * (len(match) + 1 - depth)])  # weight[h − 1]; the last one is for "none"
    total, identical = np.zeros(match.shape[1]), 0.0
    for item in range(len(match)):
        deeper = np.maximum(match[item], item + 1).astype(np.intp)
        total += weight[np.where(match[item] > 0, deeper - 1, len(match))]
        identical += weight[item]
    return total / identical


def _kendall_tau(match: Match, shared: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Tau-b over the union, from its pairs of items by kind, and where it is defined.

    With m shared items and q = k − m that only one list has: pairs of two items of the first list are concordant where
    the second puts them in the same order, items it lacks last; a shared item against one that only the second list
    has, likewise; q² pairs have one item from each list alone and are discordant; q (q − 1) / 2 are tied in the first
    ranking, as many in the second.
    """
    k = len(match)
    rank = np.where(match > 0, match, k + 1).astype(np.int16)
    surplus = np.zeros(match.shape[1], np.int64)  # concordant − discordant
    for item in range(k - 1):
        surplus += np.sign(rank[item + 1 :] - rank[item]).sum(axis=0)
    # Shared at rank j: (k − j) items of the second list come later, j − 1 before. Among shared ones that cancels out.
    surplus += np.where(match > 0, k + 1 - 2 * match.astype(np.int64), 0).sum(axis=0)
    alone, union = k - shared, 2 * k - shared
    surplus -= alone**2
    untied = union * (union - 1) // 2 - alone * (alone - 1) // 2
    known = untied > 0
    return np.divide(surplus, untied, out=np.zeros(len(untied)), where=known), known.astype(np.float64)
