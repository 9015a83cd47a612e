"""``deltann mutate``: what the operators are, and one mutant of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from deltann.cli.home import Home, Json, Trust, print_json, resolve_home
from deltann.cli.model import Force, Source, keep
from deltann.cli.places import check_out
from deltann.cli.single import Bench
from deltann.errors import InputError
from deltann.kinds.mutate import MutateData, MutateParams
from deltann.mutation import OPERATORS, Mutation, OperatorFacts

_WIDTH = max(map(len, OPERATORS))


def mutate(
    model: Annotated[str | None, typer.Argument(help="An ONNX model; nothing with --list")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show all operators, and mutate nothing")] = False,
    operator: Annotated[str | None, typer.Option(help="An operator on graphs, as --list names it")] = None,
    chosen: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=NUMBER", help="A parameter of it; may be repeated")
    ] = None,
    occurrence: Annotated[int | None, typer.Option(help="This place alone, counted from 0")] = None,
    start: Annotated[int | None, typer.Option(help="The first place")] = None,
    end: Annotated[int | None, typer.Option(help="The place after the last")] = None,
    every: Annotated[int, typer.Option(help="Every n-th place")] = 1,
    random: Annotated[int | None, typer.Option(help="So many places, drawn with --seed")] = None,
    seed: Annotated[int, typer.Option(help="Of --random")] = 0,
    out: Annotated[Path | None, typer.Option("--out", help="The mutant, an .onnx")] = None,
    source: Source = None,
    trust: Trust = False,
    home: Home = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Make a mutant of a model, checked and held against it, or list the operators that there are."""
    if listed:
        _list(json)
        return
    if model is None or operator is None or out is None:
        raise InputError("A mutant needs a model, --operator NAME and --out MUTANT.onnx; --list shows the operators.")
    if out.suffix != ".onnx":
        raise InputError(f"A mutant is an .onnx file: --out {out.with_suffix('.onnx')} rather than {out}.")
    given = {"occurrence": occurrence, "start": start, "end": end, "every": every, "random": random, "seed": seed}
    mutation = _mutation(operator, _numbers(chosen or []), given)
    check_out(out, force)
    bench = Bench.at(resolve_home(home))
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


def _list(json: bool) -> None:
    if json:
        print_json([_row(name, facts) for name, facts in OPERATORS.items()])
        return
    for name, facts in OPERATORS.items():
        numbers = ", ".join(f"{key}={one.default:g}" for key, one in facts.parameters.items())
        typer.echo(f"{name:{_WIDTH}}  {facts.level:6}  {facts.what}" + (f" ({numbers})" if numbers else ""))


def _row(name: str, facts: OperatorFacts) -> dict[str, Any]:
    return {
        "name": name,
        "level": facts.level,
        "family": facts.family,
        "what": facts.what,
        "fits": facts.fits,
        "mutatenn": facts.mutatenn,
        "parameters": {
            key: {"default": one.default, "what": one.what, "least": one.least, "most": one.most}
            for key, one in facts.parameters.items()
        },
    }


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
        raise InputError(f"{operator} mutates kernels, which a model has once it is compiled: name it in a study.")
    try:
        return Mutation.model_validate({"operator": operator, "parameters": numbers, "at": positions})
    except ValidationError as error:
        wrong = "; ".join(" ".join([*map(str, item["loc"]), item["msg"]]) for item in error.errors())
        raise InputError(f"There is no such mutation: {wrong}.") from error
