"""Which layers' errors go with changed labels: the statistical ranking of layers between two kinds of inputs."""

from __future__ import annotations

import numpy as np

LEAST = 3
"""Inputs of each kind below which nothing is said."""


def ranking(errors: np.ndarray, differs: np.ndarray) -> list[float] | None:
    """For each layer the probability that its errors do not go with changed labels.

    A Kruskal-Wallis test between inputs whose label changes and those whose does not, as FetaFix compares layers
    (Louloudakis et al., "FetaFix: Automatic Fault Localization and Repair of Deep Learning Model Conversions", 2025),
    over ranks of errors, so that infinite ones have their place; corrected over layers after Benjamini and Hochberg
    (1995).

    Args:
        errors: float [inputs, layers], of the layer on the input; infinite where it is NaN.
        differs: bool [inputs].

    Returns:
        One probability for each layer, 1.0 where all errors are equal; None where either kind has fewer than
        :data:`LEAST` inputs.
    """
    from scipy import stats

    if min(int(differs.sum()), int((~differs).sum())) < LEAST:
        return None
    found = []
    for column in errors.T:
        ranks = stats.rankdata(np.where(np.isfinite(column), column, np.inf))
        same = bool((ranks == ranks[0]).all())
        found.append(1.0 if same else float(stats.kruskal(ranks[differs], ranks[~differs]).pvalue))
    return [float(p) for p in stats.false_discovery_control(found)] if found else []
