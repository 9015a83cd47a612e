"""The fewest inputs that kill as many mutants as all of them do. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

_TRIALS = 200_000
"""Sets that are tried at most in order to show that fewer inputs do not do."""


def smallest(kills: npt.NDArray[np.bool_]) -> tuple[list[int], bool]:
    """A smallest set of inputs that kills every mutant that any input kills, and whether it is proven to be one.

    Args:
        kills: [mutants, inputs].

    Returns:
        Positions of inputs, ascending: greedy (the input that kills most of what is left, the first of equals), then
        every smaller set is tried where these are few.
    """
    masks = _masks(kills)
    everything = 0
    for mask in masks.values():
        everything |= mask
    best = _greedy(masks, everything)
    useful = _undominated(masks)
    for size in range(1, len(best)):
        if comb(len(useful), size) > _TRIALS:
            return sorted(best), False
        for some in combinations(useful, size):
            if _together(masks, some) == everything:
                return sorted(some), True
    return sorted(best), True


def _masks(kills: npt.NDArray[np.bool_]) -> dict[int, int]:
    """For each input that kills any, the mutants that it kills, as bits of a number."""
    found = {}
    for position in range(kills.shape[1]):
        mask = sum(1 << int(mutant) for mutant in np.flatnonzero(kills[:, position]))
        if mask:
            found[position] = mask
    return found


def _greedy(masks: dict[int, int], everything: int) -> list[int]:
    chosen, left = [], everything
    while left:
        best = max(masks, key=lambda position: ((masks[position] & left).bit_count(), -position))
        chosen.append(best)
        left &= ~masks[best]
    return chosen


def _undominated(masks: dict[int, int]) -> list[int]:
    """Inputs that no other input replaces: none kills all that it kills and more, and none before it the same."""
    return [
        one
        for one, mask in masks.items()
        if not any(
            mask & ~other == 0 and (mask != other or position < one)
            for position, other in masks.items()
            if position != one
        )
    ]


def _together(masks: dict[int, int], some: Sequence[int]) -> int:
    found = 0
    for position in some:
        found |= masks[position]
    return found
