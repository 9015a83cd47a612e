"""Which variants are compared with which: the pairs that differ along one axis. Pure.

An axis is decided on coordinates. All coordinates that an axis does not free have to be equal; two engines count as
equal where each is the own engine of the framework its variant is in. What is chosen of an engine (its level, precision
and library) is equal between two engines where it has one name, or is what the study names first of each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

from deltann.model import ENGINE_OF
from deltann.plan.context import ConversionPlan, VariantPlan
from deltann.report.models import PairAxis
from deltann.spec.models import Axis

_COORDINATES = ("target", "opt_level", "schedule", "precision", "library", "preprocessing", "mutation", "pool")
_FREES: dict[str, str] = {
    "target": "target",
    "optimization": "opt_level",
    "schedule": "schedule",
    "precision": "precision",
    "library": "library",
    "device": "pool",
    "preprocessing": "preprocessing",
    "mutation": "mutation",
}
_COMPILED = ("target", "schedule")
_CHOSEN = ("opt_level", "precision", "library")
_Like = Callable[..., bool]


@dataclass(frozen=True)
class PairIndex:
    """Positions of the two sides in the list of variants, ``a`` < ``b``, and the axis they differ along."""

    a: int
    b: int
    axis: PairAxis


def engine_class(variant: VariantPlan) -> str:
    """``own`` for the engine of the framework that the variant is in, else the engine's name."""
    return "own" if variant.engine == ENGINE_OF[variant.framework] else variant.engine


def lineage(variant: VariantPlan) -> Hashable:
    """What model file a variant runs: its native and the conversions behind it."""
    return variant.model, variant.instance, variant.source, variant.framework, variant.conversion, variant.chain


def find_pairs(
    variants: Sequence[VariantPlan],
    conversions: Sequence[ConversionPlan],
    *,
    axes: Sequence[Axis] | Literal["all"] = "all",
    all_pairs: bool = False,
) -> list[PairIndex]:
    """All pairs along the axes asked for, each once, ordered by position; the rest as ``multiple`` if asked for.

    The axes are: ``framework``, natives of different frameworks, of models that
    were trained several times those of one number; ``conversion``, a source or native against what was
    converted from it, and two ways from the same source to the same target; ``engine``, the own engine against another
    on the same model (a compiled variant at each of its levels, targets and schedules); ``mutation``, the unmutated
    against each mutant; every other one, two values of one coordinate with all else equal.
    """
    wanted = get_args(Axis) if axes == "all" else tuple(axes)
    found: dict[tuple[int, int], PairAxis] = {}
    like = _likeness(variants)
    for axis in wanted:
        for one, two in _along(axis, variants, conversions, like):
            found.setdefault((min(one, two), max(one, two)), axis)
    if all_pairs:
        for one, two in combinations(range(len(variants)), 2):
            if variants[one].model == variants[two].model:
                found.setdefault((one, two), "multiple")
    return [PairIndex(a, b, axis) for (a, b), axis in sorted(found.items())]


def _likeness(variants: Sequence[VariantPlan]) -> _Like:
    """Whether two variants have the same chosen of their engines, those that are freed left out."""
    first: dict[tuple[str, str], VariantPlan] = {}
    for variant in variants:
        first.setdefault((variant.model, variant.engine), variant)

    def like(a: VariantPlan, b: VariantPlan, *free: str) -> bool:
        usual = first[a.model, a.engine], first[b.model, b.engine]
        return all(
            getattr(a, name) == getattr(b, name)
            or (a.engine != b.engine and (getattr(a, name), getattr(b, name)) == tuple(getattr(u, name) for u in usual))
            for name in _CHOSEN
            if name not in free
        )

    return like


def _along(
    axis: Axis, variants: Sequence[VariantPlan], conversions: Sequence[ConversionPlan], like: _Like
) -> Iterator[tuple[int, int]]:
    if axis == "framework":
        yield from _frameworks(variants, like)
    elif axis == "conversion":
        yield from _conversions(variants, conversions, like)
    elif axis == "engine":
        yield from _engines(variants, like)
    else:
        yield from _coordinate(axis, variants)


def _grouped(
    variants: Sequence[VariantPlan], key: Callable[[VariantPlan], Hashable]
) -> Iterator[list[tuple[int, VariantPlan]]]:
    groups: dict[Hashable, list[tuple[int, VariantPlan]]] = defaultdict(list)
    for position, variant in enumerate(variants):
        groups[key(variant)].append((position, variant))
    yield from groups.values()


def _fixed(variant: VariantPlan, *free: str) -> tuple[Hashable, ...]:
    return tuple(getattr(variant, name) for name in _COORDINATES if name not in free)


def _frameworks(variants: Sequence[VariantPlan], like: _Like) -> Iterator[tuple[int, int]]:
    for group in _grouped(variants, lambda v: (v.model, v.number, engine_class(v), _fixed(v, *_CHOSEN))):
        natives = [(position, v) for position, v in group if v.conversion is None and not v.chain]
        yield from ((i, j) for (i, a), (j, b) in combinations(natives, 2) if a.framework != b.framework and like(a, b))


def _conversions(
    variants: Sequence[VariantPlan], conversions: Sequence[ConversionPlan], like: _Like
) -> Iterator[tuple[int, int]]:
    made_by = {conversion.id: conversion for conversion in conversions}
    position_of = {variant.id: position for position, variant in enumerate(variants)}
    for position, variant in enumerate(variants):
        if variant.parent in position_of:
            yield position_of[variant.parent], position
    same_native = lambda v: (v.model, v.instance, v.source, engine_class(v), _fixed(v, *_CHOSEN))  # noqa: E731
    for group in _grouped(variants, same_native):
        natives = [(position, v) for position, v in group if v.conversion is None and not v.chain]
        converted = [(position, v, made_by[v.conversion]) for position, v in group if v.conversion in made_by]
        yield from ((i, j) for i, native in natives for j, v, _ in converted if like(native, v))
        yield from (
            (i, j)
            for (i, v, one), (j, w, two) in combinations(converted, 2)
            if (one.source, one.target) == (two.source, two.target) and like(v, w)
        )


def _engines(variants: Sequence[VariantPlan], like: _Like) -> Iterator[tuple[int, int]]:
    for group in _grouped(variants, lambda v: (lineage(v), _fixed(v, *_COMPILED, *_CHOSEN))):
        own = [(position, v) for position, v in group if engine_class(v) == "own"]
        others = [(position, v) for position, v in group if engine_class(v) != "own"]
        yield from ((i, j) for i, v in own for j, w in others if like(v, w, "opt_level"))


def _coordinate(axis: Axis, variants: Sequence[VariantPlan]) -> Iterator[tuple[int, int]]:
    free = _FREES[axis]
    for group in _grouped(variants, lambda v: (lineage(v), v.engine, _fixed(v, free))):
        for (i, one), (j, two) in combinations(group, 2):
            values = getattr(one, free), getattr(two, free)
            if values[0] != values[1] and (axis != "mutation" or None in values):
                yield i, j
