"""``deltann sweep``: whole studies, here or over a gateway."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from deltann.cli.backends import Work, reading, working
from deltann.cli.guard import Interrupted
from deltann.cli.home import Gateway, Home, Json, Trust, print_json, resolve_home
from deltann.cli.places import check_writable, explained
from deltann.cli.progress import line, progress
from deltann.errors import InputError, WorkError
from deltann.kinds.analyze import AnalyzeData
from deltann.service import ready_loaders
from deltann.spec.load import load_study
from deltann.staging import stage
from deltann.sweep import SweepBackend, SweepStatus

app = typer.Typer(help="Whole studies: run, submit, watch, fetch.", no_args_is_help=True)

Spec = Annotated[Path, typer.Argument(help="The study, a YAML file")]
Id = Annotated[str, typer.Argument(metavar="SWEEP", help="A sweep's id, or its first characters")]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for the report; default deltann-report/<name>")]


@app.command()
def run(
    spec: Spec,
    out: Out = None,
    gateway: Gateway = None,
    trust: Trust = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Run a study to its report, on the embedded stack unless a gateway is named.

    Run again what was stopped: nothing that is computed is computed twice.
    """
    study = load_study(spec)
    place = resolve_home(home)
    report = _report_folder(out, study.name)
    again = f"deltann sweep run {spec}" + (f" --gateway {gateway}" if gateway else f" --home {place}" if home else "")
    sid = None
    try:
        with working(place, gateway, study.pools) as work:
            sid = _submit(work, spec, trust, gateway)
            status = _follow(work.backend, sid)
            _end(work.backend, status, report, json)
    except KeyboardInterrupt:
        rest = (
            f"The sweep goes on there; `deltann sweep cancel {sid} --gateway {gateway}` stops it."
            if gateway
            else ("What was computed is kept.")
        )
        raise Interrupted(f"Stopped. {rest} `{again}` goes on from here.") from None


@app.command()
def submit(spec: Spec, gateway: Gateway = None, trust: Trust = False, home: Home = None, json: Json = False) -> None:
    """Submit a study to a gateway or to the running stack, and print its sweep's id."""
    load_study(spec)
    with reading(resolve_home(home), gateway, running=True) as work:
        sid = _submit(work, spec, trust, gateway)
    print_json({"id": sid}) if json else typer.echo(sid)


@app.command("list")
def list_sweeps(gateway: Gateway = None, home: Home = None, json: Json = False) -> None:
    """List the sweeps, the latest first."""
    with reading(resolve_home(home), gateway) as work:
        found = work.backend.list_sweeps()
    if json:
        print_json([status.model_dump(mode="json") for status in found])
        return
    for status in found:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(status.started))
        typer.echo(f"{status.id}  {when}  {status.state:<10} {status.name}")


@app.command("status")
def status_(sweep: Id, gateway: Gateway = None, home: Home = None, json: Json = False) -> None:
    """Say how far a sweep is."""
    with reading(resolve_home(home), gateway) as work:
        found = work.backend.status(_whole(work.backend, sweep))
    if json:
        print_json(found)
        return
    typer.echo(line(found))
    for failure in found.failures:
        typer.echo(f"  {failure.label}: {failure.outcome}: {failure.message}")
    if found.error:
        typer.echo(f"  {found.error}")


@app.command()
def watch(sweep: Id, gateway: Gateway = None, home: Home = None, json: Json = False) -> None:
    """Show a sweep's progress until it ends; exit code as of `sweep run`. With --json, a line at every change."""
    with reading(resolve_home(home), gateway) as work:
        sid = _whole(work.backend, sweep)
        status = _print_changes(work.backend, sid) if json else _follow(work.backend, sid)
    _verdict(status, json)


@app.command()
def cancel(sweep: Id, gateway: Gateway = None, home: Home = None, json: Json = False) -> None:
    """Stop a sweep. What is computed is kept, and submitting the study again goes on."""
    with reading(resolve_home(home), gateway) as work:
        sid = _whole(work.backend, sweep)
        work.backend.cancel(sid)
    print_json({"id": sid, "cancelled": True}) if json else typer.echo(f"{sid} is cancelled")


@app.command()
def fetch(sweep: Id, out: Out = None, gateway: Gateway = None, home: Home = None, json: Json = False) -> None:
    """Fetch the report of a finished sweep; exit code 1 where a gate is broken."""
    with reading(resolve_home(home), gateway) as work:
        status = work.backend.status(_whole(work.backend, sweep))
        _end(work.backend, status, _report_folder(out, status.name), json, must_be_done=False)


def _print_changes(backend: SweepBackend, sid: str) -> SweepStatus:
    """Print the status at every change as a line of JSON, until the sweep has ended; the last."""
    status = backend.status(sid)
    for status in backend.watch(sid):
        print_json(status, indent=None)
    return status


def _submit(work: Work, spec: Path, trust: bool, gateway: str | None) -> str:
    loaders = None if gateway else ready_loaders()  # a gateway's converter may have others
    study = stage(load_study(spec), spec.parent, work.store, trust=trust, loaders=loaders)
    return work.backend.submit(study)


def _report_folder(out: Path | None, name: str) -> Path:
    """Where the report goes; refused before the work where it cannot be written."""
    folder = out or Path("deltann-report", name)
    check_writable(folder / "report.json")
    return folder


def _follow(backend: SweepBackend, sid: str) -> SweepStatus:
    status: SweepStatus | None = None
    with progress() as show:
        for status in backend.watch(sid):
            show(status)
    if status is None:
        raise WorkError(f"Nothing was heard of the sweep {sid}; `deltann sweep status {sid}` asks again.")
    return status


def _end(backend: SweepBackend, status: SweepStatus, out: Path, json: bool, *, must_be_done: bool = True) -> None:
    """Fetch the report, tell where it is and what it says, and leave with the exit code."""
    if must_be_done and status.state != "done":
        _verdict(status, json)
    with explained(out):
        folder = backend.fetch_report(status.id, out)
    found = _analysis(status)
    page = next((path for name in ("report.html", "report.json") if (path := folder / name).is_file()), folder)
    if json:
        print_json({"id": status.id, "report": folder.absolute(), "gates_ok": found.gates_ok, "summary": found.summary})
    else:
        for text in found.summary:
            typer.echo(text)
        typer.echo(f"Report: {page}")
    _verdict(status, json)


def _verdict(status: SweepStatus, json: bool) -> None:
    if status.state == "failed":
        kind = InputError if status.bad_input else WorkError
        raise kind(status.error or f"The sweep {status.id} failed and left no reason.")
    if status.state == "cancelled":
        raise WorkError(f"The sweep {status.id} was cancelled. What was computed is kept: submitting it again goes on.")
    if status.analysis and not _analysis(status).gates_ok:
        if not json:
            typer.echo("A gate of the study is broken; the report says which.", err=True)
        raise typer.Exit(1)


def _analysis(status: SweepStatus) -> AnalyzeData:
    return AnalyzeData.model_validate(status.analysis) if status.analysis else AnalyzeData(gates_ok=True, summary=[])


def _whole(backend: SweepBackend, start: str) -> str:
    """The id that begins so: git's way of naming things."""
    found = [status.id for status in backend.list_sweeps() if status.id.startswith(start)]
    if len(found) > 1 and start not in found:
        raise InputError(f"{start!r} is the start of {len(found)} sweeps: {', '.join(found[:5])}. Give more of it.")
    return found[0] if len(found) == 1 else start
