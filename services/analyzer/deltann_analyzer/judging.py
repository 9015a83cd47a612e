"""Whether the study's gates hold. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deltann.report.models import Gate, Pair, Variant
from deltann.spec.models import Gates
from deltann_analyzer.measured import Measured

Judged = tuple[float | None, tuple[str, ...]]
"""A value, and the ids of the variants that it is of."""


def judge(gates: Gates, variants: Sequence[Variant], pairs: Sequence[Pair], measured: Sequence[Measured]) -> list[Gate]:
    """Every gate that the study sets. One that has nothing to be judged by is broken: silence is no proof."""
    found = []
    if gates.max_disagreement is not None:
        shares = [(pair.top1_disagreement, (pair.a, pair.b)) for pair in pairs if pair.axis in gates.axes]
        found.append(_gate("max_disagreement", gates.max_disagreement, shares))
    if gates.max_slowdown is not None:
        found.append(_gate("max_slowdown", gates.max_slowdown, list(_slowdowns(variants, pairs))))
    if gates.deadline_ms is not None:
        late = [
            (float((one.ns > gates.deadline_ms * 1e6).mean()), (one.plan.id,))
            for one in measured
            if one.ns is not None and one.ns.size
        ]
        found.append(_gate(f"deadline_miss beyond {gates.deadline_ms:g} ms", gates.max_deadline_miss, late))
    return found


def _gate(name: str, limit: float, values: Sequence[Judged]) -> Gate:
    known = [(value, where) for value, where in values if value is not None]
    if not known:
        return Gate(name=name, limit=limit, value=None, ok=False, detail="nothing in this sweep could be judged by it")
    value, where = max(known)
    return Gate(
        name=name, limit=limit, value=value, ok=value <= limit, detail=" against ".join(where), variants=list(where)
    )


def _slowdowns(variants: Sequence[Variant], pairs: Sequence[Pair]) -> Iterator[Judged]:
    """Percent by which each higher level is slower than a lower one, of the medians."""
    levels = {variant.id: variant.opt_level or 0 for variant in variants}
    medians = {variant.id: variant.time_ms.median for variant in variants if variant.time_ms is not None}
    for pair in pairs:
        if pair.axis != "optimization":
            continue
        low, high = sorted((pair.a, pair.b), key=lambda id: levels[id])
        before, after = medians.get(low), medians.get(high)
        yield (100 * (after / before - 1) if before and after is not None else None), (low, high)
