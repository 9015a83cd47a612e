"""``deltann compare``: two models, modules or outputs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from deltann.cli.agreement import Agreement, Outputs, compare_outputs
from deltann.cli.home import Home, Json, Trust, print_json, resolve_home
from deltann.cli.outputs import execute, is_outputs, read_outputs
from deltann.cli.single import Bench
from deltann.errors import InputError

SHOWN = 10


def compare(
    a: Annotated[str, typer.Argument(help="The reference: a model, a module (.so) or outputs (.npz)")],
    b: Annotated[str, typer.Argument(help="What is compared with it")],
    data: Annotated[Path | None, typer.Option("--data", help="Inputs to run models and modules on")] = None,
    preprocess: Annotated[str | None, typer.Option(help="Recipe for both sides, for example tf or torchvision")] = None,
    preprocess_b: Annotated[str | None, typer.Option(help="Recipe for B where it is another")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many inputs")] = None,
    k: Annotated[int, typer.Option("--top-k", min=1, max=100, help="Length of the compared rankings")] = 5,
    threads: Annotated[int, typer.Option(min=1)] = 1,
    trust: Trust = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Compare what two models, modules or files of outputs answer."""
    bench = cache(lambda: Bench.at(resolve_home(home)))
    inputs = cache(lambda folder: bench().data(folder, limit))

    def ready(source: str, recipe: str | None) -> Callable[[], Outputs]:
        """What gives a side's outputs: a side that cannot be had is refused before one is run."""
        if is_outputs(source):
            known = read_outputs(Path(source))
            return lambda: known
        if data is None or recipe is None:
            raise InputError(f"{source} has to be run first: name the inputs with --data and how with --preprocess.")
        model, manifest = bench().model(source, trust=trust), inputs(data)
        return lambda: execute(bench(), model, manifest, recipe, k, threads)

    sides = [ready(a, preprocess), ready(b, preprocess_b or preprocess)]
    found = compare_outputs(*(outputs() for outputs in sides))
    if json:
        print_json(found)
    else:
        _print(found, a, b)


def _print(found: Agreement, a: str, b: str) -> None:
    def number(value: float | None, form: str) -> str:
        return "—" if value is None else format(value, form)

    typer.echo(f"{a} against {b}, {found.n} inputs")
    if found.n_invalid_a or found.n_invalid_b:
        typer.echo(f"  NaN or Inf          {found.n_invalid_a} and {found.n_invalid_b} inputs, left out")
    typer.echo(f"  top-1 disagreement  {number(found.top1_disagreement, '.2%')} ({len(found.differing)} inputs)")
    typer.echo(f"  rank-biased overlap {number(found.rbo, '.4f')}")
    typer.echo(f"  Kendall's tau       {number(found.kendall_tau, '.4f')}")
    typer.echo(
        f"  largest error       {number(found.max_abs, '.3g')} absolute, {number(found.max_rel, '.3g')} relative"
    )
    if found.differing:
        more = f" and {len(found.differing) - SHOWN} more" if len(found.differing) > SHOWN else ""
        typer.echo(f"  differing           {', '.join(found.differing[:SHOWN])}{more}")
