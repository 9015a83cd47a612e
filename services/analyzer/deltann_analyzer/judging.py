"""What the figures of a report add up to: whether the study's gates hold, and which axis matters most. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from pydantic import JsonValue

from deltann.report.models import Gate, Pair, Table, Variant
from deltann.spec.models import Gates
from deltann_analyzer.gather import Measured


def judge(gates: Gates, variants: Sequence[Variant], pairs: Sequence[Pair], measured: Sequence[Measured]) -> list[Gate]:
    """Every gate that the study sets. One that has nothing to be judged by is broken: silence is no proof."""
    found = []
    if gates.max_disagreement is not None:
        shares = [(pair.top1_disagreement, f"{pair.a} → {pair.b}") for pair in pairs if pair.axis in gates.axes]
        found.append(_gate("max_disagreement", gates.max_disagreement, shares))
    if gates.max_slowdown is not None:
        found.append(_gate("max_slowdown", gates.max_slowdown, list(_slowdowns(variants, pairs))))
    if gates.deadline_ms is not None:
        late = [
            (float((one.ns > gates.deadline_ms * 1e6).mean()), one.plan.id)
            for one in measured
            if one.ns is not None and one.ns.size
        ]
        found.append(_gate(f"deadline_miss beyond {gates.deadline_ms:g} ms", gates.max_deadline_miss, late))
    return found


def _gate(name: str, limit: float, values: Sequence[tuple[float | None, str]]) -> Gate:
    known = [(value, where) for value, where in values if value is not None]
    if not known:
        return Gate(name=name, limit=limit, value=None, ok=False, detail="nothing in this sweep could be judged by it")
    value, where = max(known)
    return Gate(name=name, limit=limit, value=value, ok=value <= limit, detail=where)


def _slowdowns(variants: Sequence[Variant], pairs: Sequence[Pair]) -> Iterator[tuple[float | None, str]]:
    """Percent by which each higher level is slower than a lower one, of the medians."""
    levels = {variant.id: variant.opt_level or 0 for variant in variants}
    medians = {variant.id: variant.time_ms.median for variant in variants if variant.time_ms is not None}
    for pair in pairs:
        if pair.axis != "optimization":
            continue
        low, high = sorted((pair.a, pair.b), key=lambda id: levels[id])
        before, after = medians.get(low), medians.get(high)
        yield (100 * (after / before - 1) if before and after is not None else None), f"{low} → {high}"


def sensitivity_table(variants: Sequence[Variant], pairs: Sequence[Pair]) -> Table:
    """Per model and axis, how much labels and times move along it; the axis that moves labels most comes first.

    Times count by their size: the median of |change|, since a faster variant is a change too.
    """
    model_of = {variant.id: variant.model for variant in variants}
    groups: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        if pair.axis != "multiple":
            groups[(model_of[pair.a], pair.axis)].append(pair)
    rows: list[list[JsonValue]] = []
    for (model, axis), group in groups.items():
        shares = [pair.top1_disagreement for pair in group if pair.top1_disagreement is not None]
        changes = [abs(pair.time_change_pct) for pair in group if pair.time_change_pct is not None]
        rows.append(
            [
                model,
                axis,
                len(group),
                float(np.mean(shares)) if shares else None,
                max(shares, default=None),
                float(np.median(changes)) if changes else None,
                max(changes, default=None),
            ]
        )
    rows.sort(key=lambda row: (str(row[0]), -_known(row[3]), -_known(row[5])))
    columns = ["model", "axis", "pairs", "mean_disagreement", "max_disagreement", "median_time_change_pct"]
    return Table(columns=[*columns, "max_time_change_pct"], rows=rows)


def _known(value: JsonValue) -> float:
    return value if isinstance(value, float) else -1.0
