"""``deltann compile``: one model into a module, or what each pass would do to it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deltann.cli.choosing import chosen, find_level, find_target
from deltann.cli.explained import explained
from deltann.cli.home import Home, Json, Trust, print_json, resolve_home
from deltann.cli.model import Force, Model, Source, keep
from deltann.cli.places import check_out, written
from deltann.cli.single import Bench
from deltann.errors import InputError
from deltann.job import JobResult
from deltann.kinds.compile import (
    CompileData,
    CompileParams,
    ExplainData,
    ExplainParams,
    ImportData,
    ImportParams,
    Precision,
    Schedule,
)
from deltann.targets import HOST


def compile_model(
    model: Model,
    out: Annotated[Path | None, typer.Option("--out", help="The module, a .so; its description goes beside it")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each pass does, and compile nothing")] = False,
    target: Annotated[
        str, typer.Option(help="A name that `deltann targets` lists, a tag of TVM, or TVM's JSON")
    ] = HOST,
    opt: Annotated[str, typer.Option(help="0 to 4, or basic, default, extended")] = "default",
    schedule: Annotated[Schedule, typer.Option(help="How loops are laid out")] = "standard",
    precision: Annotated[Precision, typer.Option(help="Of what is computed")] = "fp32",
    enable: Annotated[list[str] | None, typer.Option(help="A pass to add to the level; may be repeated")] = None,
    disable: Annotated[list[str] | None, typer.Option(help="A pass to leave out; may be repeated")] = None,
    source: Source = None,
    trust: Trust = False,
    home: Home = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Compile a model into a module for a target."""
    _check_places(out, explain, force)
    wanted = chosen(
        CompileParams,
        target=find_target(target),
        level=find_level(opt),
        schedule=schedule,
        precision=precision,
        enable=enable or (),
        disable=disable or (),
    )
    bench = Bench.at(resolve_home(home))
    ready = bench.model(model, framework=source, trust=trust)
    if ready.compiled:
        raise InputError(f"{model} is compiled already.")
    imported = bench.do("import", ImportParams(info=ready.info), {"model": ready.ref}, f"importing {model}")
    if imported.error is not None and not json:
        typer.echo(f"The import differs from its source: {imported.error.message}", err=True)
    if out is None:
        _explain(bench, model, imported, wanted, json)
    else:
        _compile(bench, model, imported, wanted, out, json)


def _compile(bench: Bench, model: str, imported: JobResult, wanted: CompileParams, out: Path, json: bool) -> None:
    ir = ImportData.model_validate(imported.data)
    made = bench.do(
        "compile",
        wanted.model_copy(update={"info": ir.info}),
        {"ir": imported.artifacts["ir"]},
        f"compiling {model} at level {wanted.level} for {wanted.target}",
    )
    found = CompileData.model_validate(made.data)
    keep(bench, made.artifacts["module"], out)
    with written(out.with_suffix(".json")) as new:
        new.write_text(found.model_dump_json(indent=2) + "\n")
    if json:
        print_json({"out": out.absolute(), "import": ir.model_dump(mode="json"), **found.model_dump(mode="json")})
        return
    typer.echo(
        f"{out}: level {wanted.level} for {found.target.get('kind', wanted.target)} "
        f"{found.target.get('mcpu', '')}".rstrip()
        + f", {found.kernels} kernels, {found.size_bytes / 1e6:.1f} MB, {found.cpu_seconds:.1f} CPU s"
    )


def _explain(bench: Bench, model: str, imported: JobResult, wanted: CompileParams, json: bool) -> None:
    params = ExplainParams.model_validate(wanted.model_dump())
    label = f"explaining {model} at level {wanted.level} for {wanted.target}"
    made = bench.do("explain", params, {"ir": imported.artifacts["ir"]}, label)
    found = ExplainData.model_validate(made.data)
    if json:
        print_json(found)
        return
    for line in explained(found):
        typer.echo(line)


def _check_places(out: Path | None, explain: bool, force: bool) -> None:
    if (out is None) is not explain:
        raise InputError("Name either a module to write, --out MODEL.so, or --explain, which writes none.")
    if out is None:
        return
    if out.suffix != ".so":
        raise InputError(f"A module is a .so file: --out {out.with_suffix('.so')} rather than {out}.")
    for place in (out, out.with_suffix(".json")):
        check_out(place, force)
