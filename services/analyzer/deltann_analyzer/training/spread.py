"""From instances to their mean and spread, and the difference between frameworks with its test."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from scipy.stats import wilcoxon  # type: ignore[import-untyped]

from deltann.model import Framework
from deltann.report.models import Variant
from deltann.report.training import MEASURES, FrameworkDifference, InstanceMeasures, Spread

FEWEST_PAIRS = 6
"""With five pairs the two-sided signed-rank test cannot fall below 1/16."""


def spreads(instances: Sequence[InstanceMeasures]) -> list[Spread]:
    """Mean and spread of every measure over the instances of a configuration that have it."""
    groups: dict[tuple[str, Framework, str], list[InstanceMeasures]] = defaultdict(list)
    for one in instances:
        groups[one.model, one.framework, one.way].append(one)
    found = []
    for (model, framework, way), group in groups.items():
        for measure in MEASURES:
            values = [value for one in group if (value := getattr(one, measure)) is not None]
            if values:
                found.append(
                    Spread(
                        model=model,
                        framework=framework,
                        way=way,
                        measure=measure,
                        n=len(values),
                        mean=float(np.mean(values)),
                        std=_std(values),
                        min=min(values),
                        max=max(values),
                    )
                )
    return found


def differences(natives: Sequence[Variant], number: Mapping[tuple[str, str], int]) -> list[FrameworkDifference]:
    """The accuracies of every two frameworks of a model, paired by the number of the instance.

    Args:
        natives: the trained models in their own engines; of one model in several preprocessings, the first counts.
        number: of each instance, by model and instance.
    """
    accuracy: dict[str, dict[Framework, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for one in natives:
        if one.accuracy_top1 is not None:
            accuracy[one.model][one.framework].setdefault(number[one.model, one.instance], one.accuracy_top1)
    return [
        _difference(model, a, b, of[a], of[b])
        for model, of in accuracy.items()
        for a, b in combinations(of, 2)
        if of[a].keys() & of[b].keys()
    ]


def _difference(
    model: str, a: Framework, b: Framework, one: Mapping[int, float], two: Mapping[int, float]
) -> FrameworkDifference:
    common = sorted(one.keys() & two.keys())
    left, right = [one[at] for at in common], [two[at] for at in common]
    apart = np.subtract(right, left)
    p_value = None
    if len(common) >= FEWEST_PAIRS:
        p_value = 1.0 if not apart.any() else float(wilcoxon(right, left).pvalue)
    return FrameworkDifference(
        model=model,
        a=a,
        b=b,
        n=len(common),
        mean_a=float(np.mean(left)),
        std_a=_std(left),
        mean_b=float(np.mean(right)),
        std_b=_std(right),
        mean_difference=float(np.mean(apart)),
        p_value=p_value,
    )


def _std(values: Sequence[float]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None
