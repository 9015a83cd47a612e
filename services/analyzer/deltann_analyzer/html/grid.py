"""Labels and times by model file (rows) and by engine, level, target and device (columns)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deltann.engines import level_words
from deltann.model import ENGINE_OF
from deltann.report.models import Variant
from deltann_analyzer import wording
from deltann_analyzer.assemble import Analysis
from deltann_analyzer.html.heat import depth
from deltann_analyzer.measured import Measured

MAX_ROWS = 60
_COLUMN = ("engine_class", "level", "target", "schedule", "precision", "library", "pool")
_CHOSEN = ("precision", "library")


def grids(analysis: Analysis) -> list[dict[str, Any]]:
    """One grid per model. Labels are shown against the model's first variant that has any."""
    variants = analysis.report.variants
    return [
        _grid(
            model,
            [variant for variant in variants if variant.model == model],
            [one for one in analysis.measured if one.plan.model == model],
            analysis.names,
        )
        for model in dict.fromkeys(variant.model for variant in variants)
    ]


def _column(variant: Variant) -> tuple[Any, ...]:
    own = "own engine" if variant.engine == ENGINE_OF[variant.framework] else variant.engine
    level = None if variant.opt_level is None else level_words(variant.engine, variant.opt_level)
    rest = (level, variant.target, variant.schedule, variant.precision, variant.library, variant.pool)
    return (own, *rest)


def _grid(
    model: str, variants: Sequence[Variant], measured: Sequence[Measured], names: Mapping[str, str]
) -> dict[str, Any]:
    columns = sorted(dict.fromkeys(map(_column, variants)), key=lambda column: column[0] != "own engine")
    titles = [_title(column, _telling(column, columns)) for column in columns]
    several = len({variant.preprocessing for variant in variants}) > 1
    way = {variant.id: names[variant.id].removeprefix(f"{model}: ").split(" · ")[0] for variant in variants}
    rows: dict[tuple[str, str], dict[Any, Variant]] = {}
    for variant in variants:
        rows.setdefault((way[variant.id], variant.preprocessing), {})[_column(variant)] = variant
    reference, shares = _against_reference(measured)
    medians = [v.time_ms.median for v in variants if v.time_ms is not None and v.time_ms.median]
    shown = list(rows.items())[:MAX_ROWS]
    return {
        "model": model,
        "columns": titles,
        "of": len(rows),
        "reference": names.get(reference, ""),
        "labelled": any(variant.accuracy_top1 is not None for variant in variants),
        "timed": bool(medians),
        "rows": [
            {
                "name": name + (f" · {recipe}" if several else ""),
                "cells": [_cell(row.get(column), shares, medians) for column in columns],
            }
            for (name, recipe), row in shown
        ],
    }


def _telling(column: tuple[Any, ...], columns: Sequence[tuple[Any, ...]]) -> list[int]:
    """What a title has to say: the level, and what differs between columns (of the same engine, where it chooses)."""
    told = []
    for at, name in enumerate(_COLUMN[1:], 1):
        others = [other for other in columns if name not in _CHOSEN or other[0] == column[0]]
        if name == "level" or len({other[at] for other in others} - {None}) > 1:
            told.append(at)
    return told


def _title(column: tuple[Any, ...], telling: Sequence[int]) -> str:
    parts = [str(column[0])]
    parts += [str(column[at]) for at in telling if column[at] is not None]
    return " · ".join(parts)


def _against_reference(measured: Sequence[Measured]) -> tuple[str, dict[str, float | None]]:
    """The first variant that has labels, and the share of labels by which each other differs from it."""
    known = [one for one in measured if one.labels is not None and one.valid is not None]
    if not known:
        return "", {}
    first = known[0]
    shares: dict[str, float | None] = {}
    for one in known:
        both = first.valid & one.valid  # type: ignore[operator]
        differ = first.labels[both, 0] != one.labels[both, 0]  # type: ignore[index]
        shares[one.plan.id] = float(differ.mean()) if both.any() else None
    return first.plan.id, shares


def _cell(variant: Variant | None, reference: Mapping[str, float | None], medians: Sequence[float]) -> dict[str, Any]:
    if variant is None:
        return {"kind": "none"}
    if variant.n == 0:
        return {
            "kind": "lost",
            "text": wording.words(variant.outcome),
            "stage": variant.error.stage if variant.error else "",
        }
    median = variant.time_ms.median if variant.time_ms is not None else None
    return {
        "kind": "ran",
        "tainted": variant.tainted_by,
        "unscheduled": len(variant.unscheduled),
        "labels_class": depth(reference.get(variant.id)),
        "labels": wording.share(reference.get(variant.id)),
        "accuracy": variant.accuracy_top1,
        "median": median,
        "width": _width(median, medians),
    }


def _width(median: float | None, medians: Sequence[float]) -> float:
    """Percent of the bar: linear from zero; logarithmic where the slowest takes more than 30 times the fastest."""
    if not median or not medians:
        return 0.0
    low, high = float(np.min(medians)), float(np.max(medians))
    if high <= 30 * low:
        return round(100 * median / high, 1)
    return round(8 + 92 * math.log(median / low) / math.log(high / low), 1)
