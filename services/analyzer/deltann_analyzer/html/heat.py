"""Who disagrees with whom, as a heat map: a table whose cells carry their share as a depth of colour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deltann.report.models import Report
from deltann_analyzer import wording

_DEPTHS = 6


def depth(share: float | None) -> str:
    """A class of colour, ``h0`` for equal up to ``h6``; even the smallest difference is seen."""
    if share is None:
        return "hx"
    return "h0" if share == 0 else f"h{min(_DEPTHS, 1 + int(share * 2 * (_DEPTHS - 1)))}"


def heat_maps(report: Report, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """One map per model; models whose variants all agree get a sentence in place of a map of nothing."""
    maps = []
    for part in report.disagreement:
        rows = [
            {
                "name": names[variant],
                "cells": [
                    {"class": depth(share), "text": _short(share), "share": wording.share(share)} for share in row
                ],
            }
            for variant, row in zip(part.variants, part.top1, strict=True)
        ]
        worst = max((share for row in part.top1 for share in row if share is not None), default=None)
        maps.append({"model": part.model, "rows": rows, "of": part.of, "agree": worst == 0})
    return maps


def _short(share: float | None) -> str:
    """Percent in at most three characters; nothing where both agree."""
    if share is None:
        return "–"
    return "" if share == 0 else "<1" if share < 0.01 else f"{share * 100:.0f}"
