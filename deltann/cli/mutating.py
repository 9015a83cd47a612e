"""``deltann mutate``: what the operators are, one mutant of a model, or many and what they show."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from deltann.cli.home import Gateway, Home, Json, Trust, print_json, resolve_home
from deltann.cli.model import Force, Source, keep
from deltann.cli.mutant_study import Wanted, mutant_study
from deltann.cli.operators import list_operators
from deltann.cli.places import check_out
from deltann.cli.single import Bench
from deltann.cli.studies import Runs, run_study
from deltann.errors import InputError
from deltann.kinds.mutate import MutateData, MutateParams
from deltann.model import Framework
from deltann.mutation import OPERATORS, Mutation, Positions
from deltann.targets import HOST

_RUN = "Many mutants, with --operators"
Names = Annotated[
    list[str] | None,
    typer.Option(help="By name, or all, graph, relax, kernel; joined by commas, or repeated", rich_help_panel=_RUN),
]


def mutate(
    model: Annotated[str | None, typer.Argument(help="A model; nothing with --list")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show all operators, and mutate nothing")] = False,
    operator: Annotated[str | None, typer.Option(help="An operator on graphs, for one mutant that is kept")] = None,
    operators: Names = None,
    chosen: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=NUMBER", help="A parameter of it; may be repeated")
    ] = None,
    occurrence: Annotated[int | None, typer.Option(help="This place alone, counted from 0")] = None,
    start: Annotated[int | None, typer.Option(help="The first place")] = None,
    end: Annotated[int | None, typer.Option(help="The place after the last")] = None,
    every: Annotated[int, typer.Option(help="Every n-th place")] = 1,
    random: Annotated[int | None, typer.Option(help="So many places, drawn with --seed")] = None,
    seed: Annotated[int, typer.Option(help="Of --random")] = 0,
    singles: Annotated[
        int | None, typer.Option(help="A mutant for each of so many places", rich_help_panel=_RUN)
    ] = None,
    data: Annotated[str | None, typer.Option(help="A folder of images, or an .npz", rich_help_panel=_RUN)] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many inputs", rich_help_panel=_RUN)
    ] = None,
    preprocess: Annotated[
        str | None, typer.Option(help="Recipe; default tf, and none for an .npz", rich_help_panel=_RUN)
    ] = None,
    targets: Annotated[
        list[str] | None, typer.Option(help="As `deltann targets` lists them; default host", rich_help_panel=_RUN)
    ] = None,
    opts: Annotated[list[str] | None, typer.Option("--opt", help="Levels; default 2", rich_help_panel=_RUN)] = None,
    engines: Annotated[list[str] | None, typer.Option(help="Default own,tvm", rich_help_panel=_RUN)] = None,
    pools: Annotated[list[str] | None, typer.Option(help="Default cpu", rich_help_panel=_RUN)] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The mutant, an .onnx; with --operators the report's folder")
    ] = None,
    source: Source = None,
    gateway: Gateway = None,
    trust: Trust = False,
    home: Home = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """List the operators, make one mutant of a model, or run many of them on data and say which it kills."""
    if listed:
        list_operators(json)
        return
    places = {"occurrence": occurrence, "start": start, "end": end, "every": every, "random": random, "seed": seed}
    numbers = _numbers(chosen or [])
    if operators:
        if model is None or data is None or operator is not None:
            raise InputError("Many mutants need a model, --operators NAMES and --data, and no --operator.")
        wanted = Wanted(
            model=model,
            framework=source,
            operators=operators,
            parameters=numbers,
            at=_positions(places),
            singles=singles,
            data=data,
            limit=limit,
            preprocess=preprocess,
            targets=targets or [HOST],
            opts=opts or ["2"],
            engines=engines or ["own", "tvm"],
            pools=pools or ["cpu"],
        )
        runs = Runs(resolve_home(home), gateway, trust, out, json)
        run_study(mutant_study(wanted), Path(), runs, shlex.join(["deltann", *sys.argv[1:]]))
        return
    if data or singles or targets or opts or engines or pools or preprocess or limit:
        raise InputError("One mutant is made and not run; name --operators to run many on --data.")
    if model is None or operator is None or out is None:
        raise InputError(
            "A mutant needs a model, --operator NAME and --out MUTANT.onnx; many need --operators NAMES and --data; "
            "--list shows the operators."
        )
    _one(model, _mutation(operator, numbers, places), out, source, trust, resolve_home(home), force, json)


def _one(
    model: str,
    mutation: Mutation,
    out: Path,
    source: Framework | None,
    trust: bool,
    home: Path,
    force: bool,
    json: bool,
) -> None:
    if out.suffix != ".onnx":
        raise InputError(f"A mutant is an .onnx file: --out {out.with_suffix('.onnx')} rather than {out}.")
    check_out(out, force)
    bench = Bench.at(home)
    ready = bench.model(model, framework=source, trust=trust)
    if ready.compiled or ready.info.format != "onnx":
        raise InputError(
            f"{model} is no ONNX model. Convert it first: deltann convert {model} --to onnx --out FILE.onnx."
        )
    params = MutateParams(info=ready.info, mutation=mutation)
    made = bench.do("mutate", params, {"model": ready.ref}, f"mutating {model} by {mutation.name}")
    keep(bench, made.artifacts["model"], out)
    _say(out, mutation, MutateData.model_validate(made.data), json)


def _say(out: Path, mutation: Mutation, found: MutateData, json: bool) -> None:
    if json:
        print_json({"out": out.absolute(), "mutation": mutation, **found.model_dump(mode="json")})
        return
    label = found.equivalence
    typer.echo(f"{out}: {mutation.name} at {found.mutated} of {found.fits} places: {', '.join(found.places)}")
    typer.echo(
        f"equivalent? No output of {label.probes} seeded inputs changed."
        if label.label == "equivalent?"
        else f"An output changed with input {label.probes} of the seeded ones."
    )


def _numbers(chosen: list[str]) -> dict[str, float]:
    found = {}
    for text in chosen:
        name, _, number = text.partition("=")
        try:
            found[name] = float(number)
        except ValueError:
            raise InputError(f"--set takes NAME=NUMBER, not {text!r}.") from None
    return found


def _mutation(operator: str, numbers: dict[str, float], positions: dict[str, int | None]) -> Mutation:
    facts = OPERATORS.get(operator)
    if facts is not None and facts.level != "graph":
        raise InputError(f"{operator} mutates what TVM makes of a model: run it with --operators on --data.")
    with _told("There is no such mutation"):
        return Mutation.model_validate({"operator": operator, "parameters": numbers, "at": positions})


def _positions(given: dict[str, int | None]) -> Positions:
    with _told("There are no such places"):
        return Positions.model_validate(given)


@contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        wrong = "; ".join(" ".join([*map(str, item["loc"]), item["msg"]]) for item in error.errors())
        raise InputError(f"{what}: {wrong}.") from error
