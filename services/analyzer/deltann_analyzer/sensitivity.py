"""Which axis matters most for which model. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from pydantic import JsonValue

from deltann.report.models import Pair, Sensitivity, Strongest, Variant

_COLUMNS = [
    "model", "axis", "pairs", "mean_disagreement", "max_disagreement", "median_time_change_pct", "max_time_change_pct"
]  # fmt: skip


def sensitivity(variants: Sequence[Variant], pairs: Sequence[Pair]) -> Sensitivity:
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
    return Sensitivity(columns=_COLUMNS, rows=rows, strongest=_strongest(rows))


def _strongest(rows: Iterable[Sequence[JsonValue]]) -> dict[str, Strongest]:
    """By mean disagreement and by median change of time; None where nothing moves."""
    found: dict[str, list[Sequence[JsonValue]]] = defaultdict(list)
    for row in rows:
        found[str(row[0])].append(row)

    def axis(of_model: Sequence[Sequence[JsonValue]], column: str) -> str | None:
        at = _COLUMNS.index(column)
        top = max(of_model, key=lambda row: _known(row[at]))
        return str(top[1]) if _known(top[at]) > 0 else None

    return {
        model: Strongest.model_validate(
            {"labels": axis(of_model, "mean_disagreement"), "times": axis(of_model, "median_time_change_pct")}
        )
        for model, of_model in found.items()
    }


def _known(value: JsonValue) -> float:
    return value if isinstance(value, float) else -1.0
