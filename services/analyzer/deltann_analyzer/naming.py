"""What a person calls a variant: only what tells it from the others of its sweep. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from deltann.plan.context import ConversionPlan, VariantPlan

_OTHERS = ("target", "schedule", "precision", "library", "preprocessing", "pool")


def variant_names(variants: Sequence[VariantPlan], conversions: Sequence[ConversionPlan]) -> dict[str, str]:
    """A short, unique name for every variant id, e.g. ``pytorch → keras · tvm level 2``.

    Coordinates that all variants share are left out, and of preprocessing, schedule, precision and library the value
    that the first variant of the model has. Where two would get the same name, both keep their id.
    """
    varying = [one for one in _OTHERS if len({getattr(variant, one) for variant in variants} - {None}) > 1]
    plans = {conversion.id: conversion for conversion in conversions}
    natives = {(v.model, v.instance, v.source) for v in variants}
    several = {key for key, number in Counter((model, source) for model, _, source in natives).items() if number > 1}
    both = len({conversion.normalise for conversion in conversions}) > 1
    usual: dict[str, VariantPlan] = {}
    names = {}
    for variant in variants:
        made = plans.get(variant.conversion or "")
        way = " → ".join(made.chain) if made is not None and made.chain else variant.framework
        if made is not None and both and not made.normalise:
            way += " (raw)"
        if (variant.model, variant.source) in several:
            way = f"{variant.instance}: {way}"
        engine = variant.engine if variant.opt_level is None else f"{variant.engine} level {variant.opt_level}"
        first = usual.setdefault(variant.model, variant)
        values = [
            getattr(variant, one)
            for one in varying
            if one in ("target", "pool") or getattr(variant, one) != getattr(first, one)
        ]
        parts = [way, engine, *(str(value) for value in values if value is not None)]
        if variant.mutation is not None:
            parts.append(variant.mutation)
        names[variant.id] = " · ".join(parts)
    if len({variant.model for variant in variants}) > 1:
        names = {variant.id: f"{variant.model}: {names[variant.id]}" for variant in variants}
    seen = Counter(names.values())
    return {variant: name if seen[name] == 1 else variant for variant, name in names.items()}
