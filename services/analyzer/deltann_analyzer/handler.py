"""Kind ``analyze``: read what a sweep left, compare it, and store the report folder."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from deltann.kinds.analyze import AnalyzeData, AnalyzeParams
from deltann.report.models import Report
from deltann.service import JobContext, Produced
from deltann.store.base import ArtifactStore
from deltann_analyzer.assemble import Analysis, assemble
from deltann_analyzer.attacks import attack_report
from deltann_analyzer.faults import step_faults
from deltann_analyzer.gather import gather
from deltann_analyzer.html.page import write_page
from deltann_analyzer.logs import Logs
from deltann_analyzer.records import read_records
from deltann_analyzer.stages import sweep_facts
from deltann_analyzer.summary import summary
from deltann_analyzer.tables import write_tables


def analyze(params: AnalyzeParams, context: JobContext) -> Produced:
    """The report of the sweep that the job is of, as the artifact ``report``.

    Raises:
        StoreError: if a result is no longer in the store, or not what its digest says.
    """
    folder = context.workdir / "report"
    report = write_report(context.store, context.sweep, folder, context.workdir / "outputs")
    data = AnalyzeData(gates_ok=report.gates_ok, summary=summary(report))
    return Produced(artifacts={"report": context.put(folder, "report")}, data=data)


def write_report(store: ArtifactStore, sweep: str, folder: Path, scratch: Path) -> Report:
    """Analyse a sweep and write report.json, report.html, logs and tables into a folder.

    Args:
        store: that holds the sweep.
        sweep: its id.
        folder: made if it is not there.
        scratch: where whole outputs are laid while they are compared.
    """
    begun = time.time()
    folder.mkdir(parents=True, exist_ok=True)
    records = read_records(store, sweep)
    logs = Logs(store, folder)
    measured = gather(records, store, scratch)
    analysis = assemble(
        records,
        measured,
        step_faults(records, store),
        sweep_facts(records, records.context.study.name, begun),
        logs,
        attack_report(records, store, measured),
    )
    analysis = _with_duration(analysis, time.time() - begun)
    write_tables(folder, analysis.report, measured, analysis.pairs, records.context)
    (folder / "report.json").write_text(
        analysis.report.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8"
    )
    for one in measured:
        if one.reproducers is not None:
            shutil.copytree(
                store.materialise(one.reproducers, scratch / "cache"), folder / "reproducers" / str(one.plan.bisect_job)
            )
    write_page(folder / "report.html", analysis, records.context, store, logs)
    return analysis.report


def _with_duration(analysis: Analysis, seconds: float) -> Analysis:
    """The analysis cannot read its own record, so it states its own seconds."""
    sweep = analysis.report.sweep
    stages = {**sweep.seconds_by_stage, "analyze": round(seconds, 3)}
    report = analysis.report.model_copy(update={"sweep": sweep.model_copy(update={"seconds_by_stage": stages})})
    return Analysis(report, analysis.measured, analysis.pairs, analysis.names)
