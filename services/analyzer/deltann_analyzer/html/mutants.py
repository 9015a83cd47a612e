"""The tables of mutants on the page: the kill matrix as a heat map, and what is told beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from deltann.report.mutants import Criterion, KillCell, MutationReport
from deltann_analyzer import wording
from deltann_analyzer.html.heat import depth

_SHOWN: tuple[Criterion, ...] = ("top1", "numeric")
CRITERIA: dict[Criterion, str] = {
    "top1": "first label",
    "topk": "set of the first k",
    "rbo": "rank-biased overlap",
    "tau": "Kendall's tau",
    "numeric": "outputs beyond the tolerance",
}
_MOST = 30
"""Mutants that differ between builds which the page shows; all are in the CSV file."""


def mutant_tables(found: MutationReport | None) -> dict[str, Any] | None:
    """What the template shows; None without mutants."""
    if found is None:
        return None
    differing = sorted(
        (one for one in found.devices if (one.differ or 0) > (one.usual or 0)), key=lambda one: -(one.differ or 0)
    )
    return {
        "states": Counter(one.state for one in found.mutants),
        "survivors": [one.id for one in found.mutants if one.state == "survived"],
        "stuck": sum(one.stuck for one in found.mutants),
        "scores": [(CRITERIA[one.criterion], one) for one in found.scores],
        "matrices": [{"name": CRITERIA[criterion], **_matrix(found, criterion)} for criterion in _SHOWN],
        "families": found.families,
        "differing": differing[:_MOST],
        "more": max(0, len(differing) - _MOST),
        "reasons": Counter(one.reason for one in found.mutants if one.state == "no_mutant" and one.reason),
    }


def _matrix(found: MutationReport, criterion: Criterion) -> dict[str, Any]:
    """Operators down, builds across; a cell is the share of its mutants that are killed."""
    columns = list(dict.fromkeys(_build(cell) for cell in found.matrix))
    by_place: Mapping[tuple[str, str], KillCell] = {(cell.operator, _build(cell)): cell for cell in found.matrix}
    rows = [
        {"name": operator, "cells": [_cell(by_place.get((operator, column)), criterion) for column in columns]}
        for operator in dict.fromkeys(cell.operator for cell in found.matrix)
    ]
    return {"columns": columns, "rows": rows}


def _build(cell: KillCell) -> str:
    level = "" if cell.opt_level is None else f" O{cell.opt_level}"
    return f"{cell.engine}{level}{f' {cell.target}' if cell.target else ''} on {cell.pool}"


def _cell(cell: KillCell | None, criterion: Criterion) -> dict[str, str]:
    if cell is None or not cell.mutants:
        return {"class": "hx", "text": "–", "share": "no mutant to kill"}
    killed = cell.killed[criterion]
    share = killed / cell.mutants
    return {
        "class": depth(1 - share),  # what the inputs let pass is what a reader looks for
        "text": f"{killed}/{cell.mutants}",
        "share": f"{wording.share(share)} of {cell.mutants} killed",
    }
