"""Which value of one model is which value of another, by what they hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from deltann.layers.signature import Signature, distance

CLOSE = 1e-3
"""Distances up to this are float32 rounding along a deep network; another activation is 0.05 and more away."""


@dataclass(frozen=True)
class Match:
    """A value of the target and the value of the source that it is.

    Args:
        source: name of the source's value.
        apart: distance of the two signatures.
        runner_up: distance of the nearest source value that holds something else; the further, the surer the match.
    """

    source: str
    apart: float
    runner_up: float


def match_values(
    source: Mapping[str, Signature], target: Mapping[str, Signature], close: float = CLOSE
) -> dict[str, Match]:
    """The values of the target that are values of the source, each with the nearest.

    Source values that hold the same (a reshape, a dropout, a ReLU of what is positive) are told apart by order of
    execution: of the target values that match them, the first has the first, and the last has the last.

    Args:
        source: signatures by name, in order of execution.
        target: the same.
        close: distance up to which two values are the same.

    Returns:
        Matches by name of the target's value; what matches nothing is left out.
    """
    nearest: dict[str, list[tuple[float, str]]] = {}
    for name, own in target.items():
        found = sorted((distance(other, own), key) for key, other in source.items() if other.size == own.size)
        if found and found[0][0] <= close:
            nearest[name] = found
    twins = _twins(source, close)
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, found in nearest.items():
        groups[twins[found[0][1]]].append(name)
    matches = {}
    for alike, names in groups.items():
        for position, name in enumerate(names):
            last = position == len(names) - 1
            chosen = alike[-1] if last else alike[min(position, len(alike) - 1)]
            apart = {key: far for far, key in nearest[name]}
            others = [far for far, key in nearest[name] if key not in alike]
            matches[name] = Match(chosen, apart[chosen], min(others, default=float("inf")))
    return matches


def _twins(values: Mapping[str, Signature], close: float) -> dict[str, tuple[str, ...]]:
    """For each value all that hold the same, itself included, in order of execution."""
    found: list[list[str]] = []
    for name, own in values.items():
        for group in found:
            if distance(values[group[0]], own) <= close:
                group.append(name)
                break
        else:
            found.append([name])
    return {name: tuple(group) for group in found for name in group}
