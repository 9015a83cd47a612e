"""``deltann bisect``: the pass and the operators by which two builds of a model come to answer differently."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from deltann.cli.choosing import chosen, find_level, find_target
from deltann.cli.convert import along
from deltann.cli.home import Home, Json, Trust, print_json, resolve_home
from deltann.cli.model import Force, Model, Source, keep
from deltann.cli.places import check_out
from deltann.cli.single import Bench, ReadyModel
from deltann.errors import InputError
from deltann.kinds.bisect import TOLERANCE, BisectData, BisectParams, Comparison, Finding, Setting
from deltann.kinds.compile import Precision, Schedule
from deltann.kinds.resolve import DataManifest
from deltann.preprocess.recipes import resolve_recipe
from deltann.targets import HOST

_AGAINST = "What it is held against"


def bisect(
    model: Model,
    data: Annotated[Path, typer.Option("--data", help="A folder of images, or an .npz")],
    preprocess: Annotated[str, typer.Option(help="Recipe: tf, torchvision, caffe, unit, pixels, none, …")],
    target: Annotated[str, typer.Option(help="A name that `deltann targets` lists; its code is run here")] = HOST,
    opt: Annotated[str, typer.Option(help="Level of the build that is in doubt")] = "extended",
    precision: Annotated[Precision, typer.Option(help="Its precision")] = "fp32",
    schedule: Annotated[Schedule, typer.Option(help="Its loops")] = "standard",
    enable: Annotated[list[str] | None, typer.Option(help="A pass to add to its level; may be repeated")] = None,
    disable: Annotated[list[str] | None, typer.Option(help="A pass to leave out of it; may be repeated")] = None,
    against_opt: Annotated[
        str | None, typer.Option(help=f"{_AGAINST}; 0, or the same level where precision or schedule are others")
    ] = None,
    against_precision: Annotated[Precision, typer.Option(help=_AGAINST)] = "fp32",
    against_schedule: Annotated[Schedule, typer.Option(help=_AGAINST)] = "standard",
    tolerance: Annotated[
        float, typer.Option(help="Up to which two answers are the same, relative to their root mean square")
    ] = TOLERANCE,
    limit: Annotated[int, typer.Option(min=1, help="Only the first so many inputs")] = 20,
    seconds: Annotated[float, typer.Option(min=1, max=3000, help="After so long it stops making it smaller")] = 1800.0,
    out: Annotated[Path | None, typer.Option("--out", help="A folder for what shows it: model, inputs, script")] = None,
    source: Source = None,
    trust: Trust = False,
    home: Home = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Say which pass, and on which operators, makes a compiled model answer differently."""
    if not tolerance > 0:
        raise InputError(f"--tolerance is a number above 0, not {tolerance}.")
    if out is not None:
        check_out(out, force, "folder")
    asked = find_target(target)
    level = find_level(opt)
    other = precision != against_precision or schedule != against_schedule
    base = find_level(against_opt, "--against-opt") if against_opt is not None else level if other else 0
    a = chosen(Setting, level=base, precision=against_precision, schedule=against_schedule)
    b = chosen(Setting, level=level, precision=precision, schedule=schedule, enable=enable or (), disable=disable or ())
    if a == b:
        raise InputError(f"Both are {a.name}, so they are one build: give another --opt, --precision or --against-opt.")
    bench = Bench.at(resolve_home(home))
    ready = _as_onnx(bench, bench.model(model, framework=source, trust=trust))
    manifest = bench.data(data, limit)
    params = BisectParams(
        info=ready.info,
        target=asked,
        a=a,
        b=b,
        recipe=resolve_recipe(preprocess, ready.info),
        data_kind=manifest.kind,
        shards=len(manifest.shards),
        tolerance=tolerance,
        seconds=seconds,
    )
    shards = {f"shard{place}": shard.blob for place, shard in enumerate(manifest.shards)}
    made = bench.do("bisect", params, {"model": ready.ref, **shards}, f"bisecting {model}")
    found = BisectData.model_validate(made.data)
    kept = out.absolute() if out is not None and "reproducers" in made.artifacts else None
    if kept is not None:
        keep(bench, made.artifacts["reproducers"], kept)
    if json:
        print_json({"out": kept, "ids": manifest.ids, **found.model_dump(mode="json")})
        return
    for line in _told(found, manifest, out):
        typer.echo(line)


def _as_onnx(bench: Bench, ready: ReadyModel) -> ReadyModel:
    """The model, or the ONNX that it is converted to.

    Raises:
        InputError: for a compiled module.
    """
    if ready.compiled:
        raise InputError(f"{ready.source} is compiled already. Name its model.")
    if ready.info.format == "onnx":
        return ready
    return along(bench, ready, ("onnx",))[0]


def _told(found: BisectData, manifest: DataManifest, out: Path | None) -> Iterator[str]:
    yield from (f"{one.b} against {one.a}: {_agreement(one)}" for one in found.comparisons)
    for number, one in enumerate(found.findings, 1):
        yield f"{number}. {one.comparison.b}: {_culprit(one)}"
        yield f"     on input {manifest.ids[one.position]}" + (
            f"; {len(one.nodes)} of the model's nodes show it alone:" if one.nodes else ", and on no part of it alone"
        )
        yield from (f"     {node.op_type} {node.name} → {node.output}" for node in one.nodes)
        if one.avoided_by:
            yield f"     avoided by {' or '.join(f'--disable {name}' for name in one.avoided_by)}"
        if not one.minimal:
            yield "     the time ended, or no part shows it: fewer passes or nodes may do"
        if one.reproducer and out is not None:
            yield f"     {out / one.reproducer}" + ("" if one.reproduced else ": its script does not show it")
    if not found.findings:
        yield "All of them agree: there is nothing to find."


def _agreement(one: Comparison) -> str:
    if one.symptom is None:
        return f"they agree over {one.n} inputs, error {one.error:.2g}"
    if one.symptom != "differs":
        return f"{one.symptom}: {one.message}"
    far = f"error {one.error:.2g}" if one.error is not None else one.message or "NaN or Inf on one side alone"
    return f"{len(one.differing)} of {one.n} inputs differ, {far}"


def _culprit(one: Finding) -> str:
    if one.passes:
        return "by " + " and ".join(f"{each.name} ({each.joins})" for each in one.passes)
    return "TVM's importer, or its kernels, before any pass"
