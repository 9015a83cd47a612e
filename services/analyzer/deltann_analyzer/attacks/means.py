"""From single sets to the means over instances, and from these to the indicator R of a conversion. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from deltann.model import Framework
from deltann.report.attacks import AttackMeans, AttackMeasures, ConversionRobustness
from deltann_analyzer.metrics.robustness import indicator


def means(rows: Sequence[AttackMeasures]) -> list[AttackMeans]:
    """The mean of every measure over the instances of a configuration; rows over no input count for none."""
    groups: dict[tuple[str, str, Framework, str, bool], list[AttackMeasures]] = defaultdict(list)
    for row in rows:
        if row.n:
            groups[row.attack, row.model, row.framework, row.way, row.across].append(row)
    found = []
    for (attack, model, framework, way, across), group in groups.items():
        after = [row.success_after for row in group if row.success_after is not None]
        errors = [row.error_abs for row in group if row.error_abs is not None]
        found.append(
            AttackMeans(
                attack=attack,
                model=model,
                framework=framework,
                way=way,
                across=across,
                instances=len(group),
                success_before=_mean([row.success_before or 0.0 for row in group]),
                success_after=_mean(after),
                std_after=float(np.std(after, ddof=1)) if len(after) > 1 else None,
                misclassification=_mean([row.misclassification or 0.0 for row in group]),
                error_abs=_mean(errors) if errors else None,
            )
        )
    return found


def robustness(averaged: Sequence[AttackMeans]) -> list[ConversionRobustness]:
    """R of every model (as its framework's native) for every way that it was converted, as :func:`indicator` has it."""
    ways: dict[str, dict[str, dict[tuple[str, Framework], tuple[float, float]]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for one in averaged:
        if not one.across:
            ways[one.way][one.attack][one.model, one.framework] = (one.success_before, one.success_after)
    return [
        ConversionRobustness(
            model=model,
            framework=framework,
            way=way,
            r=r,
            attacks=sum((model, framework) in models for models in attacks.values()),
        )
        for way, attacks in ways.items()
        for (model, framework), r in indicator(attacks).items()
    ]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
