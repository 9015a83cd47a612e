"""What a person calls a variant: only what tells it from the others of its sweep. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

from deltann.engines import level_words, shown
from deltann.plan.context import ConversionPlan, VariantPlan

_OTHERS = ("target", "schedule", "preprocessing", "pool")
_OF_ENGINE = ("precision", "library")


def variant_names(variants: Sequence[VariantPlan], conversions: Sequence[ConversionPlan]) -> dict[str, str]:
    """A short, unique name for every variant id, e.g. ``pytorch → keras · tvm level 2``.

    Coordinates that all variants share are left out, and of preprocessing and schedule the value that the first variant
    of the model has; precision and library are told of engines that run in several. Where two would get the same name,
    both keep their id.
    """
    varying = [one for one in _OTHERS if len({getattr(variant, one) for variant in variants} - {None}) > 1]
    plans = {conversion.id: conversion for conversion in conversions}
    natives = {(v.model, v.instance, v.source) for v in variants}
    several = {key for key, number in Counter((model, source) for model, _, source in natives).items() if number > 1}
    both = len({conversion.normalise for conversion in conversions}) > 1
    choices = {
        (engine, one): {getattr(variant, one) for variant in variants if variant.engine == engine}
        for engine, one in product({variant.engine for variant in variants}, _OF_ENGINE)
    }
    usual: dict[str, VariantPlan] = {}
    names = {}
    for variant in variants:
        made = plans.get(variant.conversion or "")
        way = " → ".join(made.chain) if made is not None and made.chain else variant.framework
        if made is not None and both and not made.normalise:
            way += " (raw)"
        if (variant.model, variant.source) in several:
            way = f"{variant.instance}: {way}"
        level = "" if variant.opt_level is None else f" {level_words(variant.engine, variant.opt_level)}"
        first = usual.setdefault(variant.model, variant)
        values = [
            getattr(variant, one)
            for one in varying
            if one in ("target", "pool") or getattr(variant, one) != getattr(first, one)
        ]
        values += [getattr(variant, one) for one in _OF_ENGINE if len(choices[variant.engine, one]) > 1]
        parts = [way, f"{shown(variant.engine)}{level}", *(str(value) for value in values if value is not None)]
        if variant.mutation is not None:
            parts.append(variant.mutation)
        names[variant.id] = " · ".join(parts)
    if len({variant.model for variant in variants}) > 1:
        names = {variant.id: f"{variant.model}: {names[variant.id]}" for variant in variants}
    seen = Counter(names.values())
    return {variant: name if seen[name] == 1 else variant for variant, name in names.items()}
