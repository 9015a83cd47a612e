"""``report.html``: one file, no request to anywhere, everything escaped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined

from deltann.plan.context import SweepContext
from deltann.store.base import ArtifactStore
from deltann_analyzer import wording
from deltann_analyzer.assemble import Analysis
from deltann_analyzer.html.conversions import conversion_matrices
from deltann_analyzer.html.grid import grids
from deltann_analyzer.html.heat import heat_maps
from deltann_analyzer.html.photos import changed_inputs
from deltann_analyzer.html.spread import spreads
from deltann_analyzer.logs import Logs

MAX_ROWS = 40
"""Rows of a table that the page shows; all of them are in the CSV file."""


def write_page(path: Path, analysis: Analysis, context: SweepContext, store: ArtifactStore, logs: Logs) -> None:
    """Write the page of a report."""
    path.write_text(render(analysis, context, store, logs), encoding="utf-8")


def render(analysis: Analysis, context: SweepContext, store: ArtifactStore, logs: Logs) -> str:
    """The page as text."""
    environment = Environment(
        loader=PackageLoader("deltann_analyzer.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= wording.FILTERS
    report = analysis.report
    return environment.get_template("report.html").render(
        report=report,
        names=analysis.names,
        verdict=_verdict(analysis),
        tiles=_tiles(analysis),
        heat=heat_maps(report, analysis.names),
        conversions=conversion_matrices(report),
        grids=grids(analysis),
        spreads=spreads(analysis),
        changed=changed_inputs(analysis, context, store),
        failed=[variant for variant in report.variants if variant.error is not None],
        excerpt=logs.excerpt,
        study=yaml.safe_dump(report.study, sort_keys=False, allow_unicode=True),
        max_rows=MAX_ROWS,
    )


def _verdict(analysis: Analysis) -> dict[str, str]:
    """The one sentence at the top, and how grave it is."""
    report = analysis.report
    faults = sum(finding.severity == "fault" for finding in report.findings)
    broken = sum(not gate.ok for gate in report.gates)
    if broken:
        gates = "One gate is broken" if broken == 1 else f"{broken} gates are broken"
        found = f", and {wording.count(faults, 'fault')} found" if faults else ""
        return {"level": "fault", "text": f"{gates}{found}."}
    held = f"All {len(report.gates)} gates hold" if report.gates else "The study sets no gates"
    if faults:
        return {"level": "fault", "text": f"{held}, but {wording.count(faults, 'fault')} found."}
    warnings = sum(finding.severity == "warning" for finding in report.findings)
    if warnings:
        return {"level": "warning", "text": f"{held}. No fault was found; {wording.count(warnings, 'warning')}."}
    return {"level": "good", "text": f"{held}. No fault was found."}


def _tiles(analysis: Analysis) -> list[dict[str, Any]]:
    """The figures that are looked for first."""
    report = analysis.report
    ok = sum(variant.outcome == "ok" for variant in report.variants)
    converted = sum(conversion.outcome == "ok" and conversion.silent_fault is None for conversion in report.conversions)
    known = [pair for pair in report.pairs if pair.top1_disagreement is not None]
    differ = [pair for pair in known if pair.top1_disagreement]
    levels = [pair.time_change_pct for pair in report.pairs if pair.axis == "optimization"]
    changes = [change for change in levels if change is not None]
    return [
        {
            "value": f"{ok} / {len(report.variants)}",
            "label": "variants ran without fault",
            "bad": ok < len(report.variants),
        },
        {
            "value": f"{converted} / {len(report.conversions)}",
            "label": "conversions kept the model",
            "bad": converted < len(report.conversions),
        },
        {
            "value": f"{len(differ)} / {len(known)}",
            "label": "pairs with a changed label",
            "bad": bool(differ),
        },
        {
            "value": wording.share(max((pair.top1_disagreement or 0.0 for pair in known), default=None)),
            "label": "of labels changed in the worst pair",
            "bad": bool(differ),
        },
        {
            "value": wording.change(max(changes, default=None)),
            "label": "worst change of time by an optimisation level",
            "bad": max(changes, default=0.0) > 0,
        },
    ]
