"""``deltann sweep``: whole studies, here or over a gateway."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from deltann.cli.backends import reading
from deltann.cli.home import Gateway, Home, Json, Trust, print_json, resolve_home
from deltann.cli.progress import line
from deltann.cli.studies import Out, Runs, end, follow, report_folder, run_study, submit_study, verdict
from deltann.errors import InputError
from deltann.spec.load import load_study
from deltann.sweep import SweepBackend, SweepStatus

app = typer.Typer(help="Whole studies: run, submit, watch, fetch.", no_args_is_help=True)

Spec = Annotated[Path, typer.Argument(help="The study, a YAML file")]
Id = Annotated[str, typer.Argument(metavar="SWEEP", help="A sweep's id, or its first characters")]


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
    place = resolve_home(home)
    again = f"deltann sweep run {spec}" + (f" --gateway {gateway}" if gateway else f" --home {place}" if home else "")
    run_study(load_study(spec), spec.parent, Runs(place, gateway, trust, out, json), again)


@app.command()
def submit(spec: Spec, gateway: Gateway = None, trust: Trust = False, home: Home = None, json: Json = False) -> None:
    """Submit a study to a gateway or to the running stack, and print its sweep's id."""
    study = load_study(spec)
    with reading(resolve_home(home), gateway, running=True) as work:
        sid = submit_study(work, study, spec.parent, trust, gateway)
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
        status = _print_changes(work.backend, sid) if json else follow(work.backend, sid)
    verdict(status, json)


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
        end(work.backend, status, report_folder(out, status.name), json, must_be_done=False)


def _print_changes(backend: SweepBackend, sid: str) -> SweepStatus:
    """Print the status at every change as a line of JSON, until the sweep has ended; the last."""
    status = backend.status(sid)
    for status in backend.watch(sid):
        print_json(status, indent=None)
    return status


def _whole(backend: SweepBackend, start: str) -> str:
    """The id that begins so: git's way of naming things."""
    found = [status.id for status in backend.list_sweeps() if status.id.startswith(start)]
    if len(found) > 1 and start not in found:
        raise InputError(f"{start!r} is the start of {len(found)} sweeps: {', '.join(found[:5])}. Give more of it.")
    return found[0] if len(found) == 1 else start
