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
    """One map per model; models whose variants all agree get a sentence in place of a map of nothing.

    A row stands for all variants that answer alike, and is called by the first of them.
    """
    maps = []
    for part in report.disagreement:
        rows = [
            {
                "name": names[group[0]],
                "others": [names[variant] for variant in group[1:]],
                "cells": [
                    {"class": depth(share), "text": _short(share), "share": wording.share(share)} for share in row
                ],
            }
            for group, row in zip(part.groups, part.top1, strict=True)
        ]
        worst = max((share for row in part.top1 for share in row if share is not None), default=None)
        shown = sum(len(group) for group in part.groups)
        maps.append({"model": part.model, "rows": rows, "shown": shown, "of": part.of, "agree": worst == 0})
    return maps


def _short(share: float | None) -> str:
    """Percent in at most three characters; nothing where both agree."""
    if share is None:
        return "–"
    return "" if share == 0 else "<1" if share < 0.01 else f"{share * 100:.0f}"
