"""``report.html``: one file, no request to anywhere, everything escaped."""

from __future__ import annotations

from pathlib import Path

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined

from deltann.engines import ENGINES
from deltann.plan.context import SweepContext
from deltann.store.base import ArtifactStore
from deltann_analyzer import wording
from deltann_analyzer.assemble import Analysis
from deltann_analyzer.html.conversions import conversion_matrices
from deltann_analyzer.html.faults import fault_sections
from deltann_analyzer.html.first import leading, tiles, verdict
from deltann_analyzer.html.grid import grids
from deltann_analyzer.html.heat import heat_maps
from deltann_analyzer.html.mutants import mutant_tables
from deltann_analyzer.html.photos import changed_inputs
from deltann_analyzer.html.spread import spreads
from deltann_analyzer.html.training import training_tables
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
    analysis = analysis.unmutated
    report = analysis.report
    first, further = leading(report.findings)
    return environment.get_template("report.html").render(
        report=report,
        names=analysis.names,
        verdict=verdict(report),
        tiles=tiles(report),
        leading=first,
        further=further,
        heat=heat_maps(report, analysis.names),
        conversions=conversion_matrices(report),
        faults=fault_sections(report.faults),
        grids=grids(analysis),
        spreads=spreads(analysis),
        changed=changed_inputs(analysis, context, store),
        mutants=mutant_tables(report.mutation),
        training=training_tables(report.training),
        failed=[variant for variant in report.variants if variant.error is not None],
        excerpt=logs.excerpt,
        study=yaml.safe_dump(report.study, sort_keys=False, allow_unicode=True),
        max_rows=MAX_ROWS,
        stand_ins={facts.shown for facts in ENGINES.values()} - {None},
    )
