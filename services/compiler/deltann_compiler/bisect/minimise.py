"""Delta debugging: the smallest part of a set that still shows something. Pure.

After Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE Transactions on Software
Engineering 28(2), 2002, where it is called ddmin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

Item = TypeVar("Item")


class OutOfTimeError(Exception):
    """Raised by what is asked, where it may not be asked any more."""


@dataclass(frozen=True)
class Minimised(Generic[Item]):
    """What is left, in the order in which it came.

    Args:
        kept: shows it.
        minimal: without any one of them it is not shown; False where the time ended before that was known.
    """

    kept: tuple[Item, ...]
    minimal: bool


def minimise(items: Sequence[Item], shows: Callable[[tuple[Item, ...]], bool]) -> Minimised[Item]:
    """Leave out what is not needed.

    Items next to each other are left out together where that can be, so that one of n takes some 2 log2(n) questions;
    at worst it is n² of them. What depends on each other stays or goes by what ``shows`` says: no order is assumed.

    Args:
        items: which show it all together.
        shows: whether some of them, never none, do. It is asked once for each set.

    Raises:
        Exception: whatever ``shows`` raises but :class:`OutOfTimeError`.
    """
    known: dict[tuple[int, ...], bool] = {}

    def asked(places: tuple[int, ...]) -> bool:
        if places not in known:
            known[places] = shows(tuple(items[place] for place in places))
        return known[places]

    kept = tuple(range(len(items)))
    try:
        parts = 2
        while len(kept) > 1:
            smaller, parts = _smaller(kept, min(parts, len(kept)), asked)
            if smaller is not None:
                kept = smaller
            elif parts > len(kept):
                break
    except OutOfTimeError:
        return Minimised(tuple(items[place] for place in kept), minimal=False)
    return Minimised(tuple(items[place] for place in kept), minimal=True)


def _smaller(
    kept: tuple[int, ...], parts: int, shows: Callable[[tuple[int, ...]], bool]
) -> tuple[tuple[int, ...] | None, int]:
    """A smaller set that shows it, if one of the parts or of what each leaves does; and the next number of parts."""
    edges = [len(kept) * part // parts for part in range(parts + 1)]
    cuts = list(pairwise(edges))
    for start, stop in cuts:
        if shows(kept[start:stop]):
            return kept[start:stop], 2
    for start, stop in cuts if parts > 2 else []:
        rest = kept[:start] + kept[stop:]
        if shows(rest):
            return rest, max(parts - 1, 2)
    if parts == len(kept):
        return None, parts + 1
    return None, min(2 * parts, len(kept))
