"""A study on its way: submitted, followed to its end, its report fetched, and the exit code that it gives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from deltann.cli.backends import Work, working
from deltann.cli.guard import Interrupted
from deltann.cli.home import print_json
from deltann.cli.places import check_writable, explained
from deltann.cli.progress import progress
from deltann.errors import InputError, WorkError
from deltann.kinds.analyze import AnalyzeData
from deltann.service import ready_loaders
from deltann.spec.models import Study
from deltann.staging import stage
from deltann.sweep import SweepBackend, SweepStatus

Out = Annotated[Path | None, typer.Option("--out", help="Folder for the report; default deltann-report/<name>")]


@dataclass(frozen=True)
class Runs:
    """Where a study runs and what is made of its end: as the options of the same names say."""

    home: Path
    gateway: str | None
    trust: bool
    out: Path | None
    json: bool


def run_study(study: Study, base: Path, runs: Runs, again: str) -> None:
    """Run a study to its report, on the embedded stack unless a gateway is named.

    Args:
        study: as it was written.
        base: the folder that its relative paths start from.
        runs: where, and what for.
        again: the command that goes on with it once it was stopped.
    """
    report = report_folder(runs.out, study.name)
    sid = None
    try:
        with working(runs.home, runs.gateway, study.pools) as work:
            sid = submit_study(work, study, base, runs.trust, runs.gateway)
            status = follow(work.backend, sid)
            end(work.backend, status, report, runs.json)
    except KeyboardInterrupt:
        rest = (
            f"The sweep goes on there; `deltann sweep cancel {sid} --gateway {runs.gateway}` stops it."
            if runs.gateway
            else ("What was computed is kept.")
        )
        raise Interrupted(f"Stopped. {rest} `{again}` goes on from here.") from None


def submit_study(work: Work, study: Study, base: Path, trust: bool, gateway: str | None) -> str:
    """Store a study's files and submit it; its sweep's id."""
    loaders = None if gateway else ready_loaders()  # a gateway's converter may have others
    return work.backend.submit(stage(study, base, work.store, trust=trust, loaders=loaders))


def report_folder(out: Path | None, name: str) -> Path:
    """Where the report goes; refused before the work where it cannot be written."""
    folder = out or Path("deltann-report", name)
    check_writable(folder / "report.json")
    return folder


def follow(backend: SweepBackend, sid: str) -> SweepStatus:
    """Show a sweep's progress until it ends."""
    status: SweepStatus | None = None
    with progress() as show:
        for status in backend.watch(sid):
            show(status)
    if status is None:
        raise WorkError(f"Nothing was heard of the sweep {sid}; `deltann sweep status {sid}` asks again.")
    return status


def end(backend: SweepBackend, status: SweepStatus, out: Path, json: bool, *, must_be_done: bool = True) -> None:
    """Fetch the report, tell where it is and what it says, and leave with the exit code."""
    if must_be_done and status.state != "done":
        verdict(status, json)
    with explained(out):
        folder = backend.fetch_report(status.id, out)
    found = analysis_of(status)
    page = next((path for name in ("report.html", "report.json") if (path := folder / name).is_file()), folder)
    if json:
        print_json({"id": status.id, "report": folder.absolute(), "gates_ok": found.gates_ok, "summary": found.summary})
    else:
        for text in found.summary:
            typer.echo(text)
        typer.echo(f"Report: {page}")
    verdict(status, json)


def verdict(status: SweepStatus, json: bool) -> None:
    """Leave with the exit code of a sweep that has ended; nothing happens where that is 0."""
    if status.state == "failed":
        kind = InputError if status.bad_input else WorkError
        raise kind(status.error or f"The sweep {status.id} failed and left no reason.")
    if status.state == "cancelled":
        raise WorkError(f"The sweep {status.id} was cancelled. What was computed is kept: submitting it again goes on.")
    if status.analysis and not analysis_of(status).gates_ok:
        if not json:
            typer.echo("A gate of the study is broken; the report says which.", err=True)
        raise typer.Exit(1)


def analysis_of(status: SweepStatus) -> AnalyzeData:
    """What the analysis of a sweep said, in short."""
    return AnalyzeData.model_validate(status.analysis) if status.analysis else AnalyzeData(gates_ok=True, summary=[])
