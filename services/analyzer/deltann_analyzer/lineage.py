"""Whether two variants hold the same weights and the same graph."""

from __future__ import annotations

from deltann_analyzer.measured import Measured


def same_weights(a: Measured, b: Measured) -> bool | None:
    """By fingerprint, or because both were converted from one native; None where it is not known."""
    return True if _one_native(a, b) else _equal(a, b, "weights_fingerprint")


def same_graph(a: Measured, b: Measured) -> bool | None:
    """By fingerprint, or because both were converted from one native and neither was mutated differently."""
    if a.plan.mutation != b.plan.mutation:
        return False
    return True if _one_native(a, b) else _equal(a, b, "graph_fingerprint")


def _one_native(a: Measured, b: Measured) -> bool:
    one, two = a.plan, b.plan
    return (one.model, one.instance, one.source) == (two.model, two.instance, two.source)


def _equal(a: Measured, b: Measured, name: str) -> bool | None:
    one = getattr(a.info, name, "") if a.info is not None else ""
    two = getattr(b.info, name, "") if b.info is not None else ""
    return one == two if one and two else None
