"""``deltann``: the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from deltann import __version__
from deltann.cli import (
    bisecting,
    compare,
    compiling,
    doctor,
    localizing,
    model,
    mutating,
    quantizing,
    repairing,
    spec,
    stack,
    sweep,
    targets,
    top,
    worker,
)
from deltann.cli.guard import GuardedGroup

app = typer.Typer(
    name="deltann",
    cls=GuardedGroup,
    help="Does a model behave the same after conversion, compilation and deployment as before?",
    epilog="Exit codes: 0 done and inside the gates; 1 done, a gate is broken; 2 the input is bad; "
    "3 the work could not be done; 130 stopped by Ctrl-C.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"deltann {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", envvar="DELTANN_DEBUG", help="Show tracebacks")] = False,
) -> None:
    """Nothing of its own: the options belong to every command."""


app.add_typer(sweep.app, name="sweep")
app.add_typer(spec.app, name="spec")
app.add_typer(stack.app, name="stack")
app.command("convert")(model.convert)
app.command("compile")(compiling.compile_model)
app.command("quantize")(quantizing.quantize)
app.command("mutate")(mutating.mutate)
app.command("run")(model.run)
app.command("targets")(targets.targets)
app.command("compare")(compare.compare)
app.command("localize")(localizing.localize)
app.command("repair")(repairing.repair)
app.command("bisect")(bisecting.bisect)
app.command("top")(top.top)
app.command("worker")(worker.worker)
app.command("doctor")(doctor.doctor)

if __name__ == "__main__":
    app()
