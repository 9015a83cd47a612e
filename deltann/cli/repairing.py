"""``deltann localize`` and ``repair``: what is wrong with a converted model, and the model put right."""

from __future__ import annotations

import json as plain_json
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter

from deltann.artifact import ArtifactRef
from deltann.cli.home import Home, Json, Trust, print_json, resolve_home
from deltann.cli.model import Force, keep
from deltann.cli.places import check_out
from deltann.cli.single import Bench, ReadyModel
from deltann.errors import InputError
from deltann.faults.edits import brief
from deltann.faults.suspect import Suspect
from deltann.kinds.repair import Disagreement, LocalizeData, LocalizeParams, RepairData, RepairParams
from deltann.kinds.resolve import DataManifest
from deltann.preprocess.recipes import resolve_recipe

_SUSPECTS: TypeAdapter[list[Suspect]] = TypeAdapter(list[Suspect])

SourceModel = Annotated[str, typer.Argument(metavar="SOURCE", help="The model as it should be, of any framework")]
TargetModel = Annotated[str, typer.Argument(metavar="TARGET", help="What was converted from it, an ONNX model")]
Data = Annotated[Path, typer.Option("--data", help="A folder of images, or an .npz")]
Recipe = Annotated[str, typer.Option("--preprocess", help="Recipe of the source, for example tf or none")]
OtherRecipe = Annotated[str | None, typer.Option("--preprocess-b", help="Recipe of the target where it is another")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first so many inputs")]


def localize(
    source: SourceModel,
    target: TargetModel,
    data: Data,
    preprocess: Recipe,
    preprocess_b: OtherRecipe = None,
    limit: Limit = None,
    trust: Trust = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Say which nodes of a converted model are wrong, what kind of fault each has, and how that shows."""
    bench = Bench.at(resolve_home(home))
    params, sources, manifest = _pair(bench, source, target, data, preprocess, preprocess_b, limit, trust)
    made = bench.do("localize", params, sources, f"holding {target} against {source}")
    found = LocalizeData.model_validate(made.data)
    suspects = _SUSPECTS.validate_json(bench.store.materialise(made.artifacts["suspects"], bench.cache).read_bytes())
    if json:
        listed = [one.model_dump(mode="json", exclude={"edits"}) | {"edits": _briefs(one)} for one in suspects]
        print_json({**found.model_dump(mode="json"), "suspects": listed, "inputs": _ids(found.inputs, manifest)})
        return
    typer.echo(f"{target} against {source}: {_said(found.agreement)}")
    for rank, one in enumerate(suspects, 1):
        typer.echo(f"{rank}. {one.node} ({one.op_type}), {one.stage}: {one.kind}")
        for line in (*one.evidence, *(f"repair: {edit}" for edit in _briefs(one))):
            typer.echo(f"     {line}")
    if not suspects:
        typer.echo(found.note or "No node of the target is wrong: the conversion is sound.")


def repair(
    source: SourceModel,
    target: TargetModel,
    data: Data,
    preprocess: Recipe,
    out: Annotated[Path, typer.Option("--out", help="The repaired model, an .onnx; its patch list goes beside it")],
    preprocess_b: OtherRecipe = None,
    limit: Limit = None,
    seconds: Annotated[float, typer.Option(min=1, help="After so long no further edit is tried")] = 600.0,
    trust: Trust = False,
    home: Home = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Put a converted model right, keeping only edits that bring it nearer to its source over all inputs."""
    if out.suffix != ".onnx":
        raise InputError(f"A repaired model is an .onnx file: --out {out.with_suffix('.onnx')} rather than {out}.")
    patch = out.with_suffix(".patch.json")
    for place in (out, patch):
        check_out(place, force)
    bench = Bench.at(resolve_home(home))
    params, sources, _ = _pair(bench, source, target, data, preprocess, preprocess_b, limit, trust)
    wanted = RepairParams(**params.model_dump(), seconds=seconds)
    made = bench.do("repair", wanted, sources, f"repairing {target}")
    found = RepairData.model_validate(made.data)
    keep(bench, made.artifacts["model"], out)
    keep(bench, made.artifacts["patch"], patch)
    if json:
        print_json({"out": out.absolute(), "patch": patch.absolute(), **found.model_dump(mode="json")})
        return
    typer.echo(f"before: {_said(found.before)}")
    for step in found.steps:
        typer.echo(f"  {'kept' if step.kept else 'reverted'}: {step.node}, {step.kind}; then {_said(step.agreement)}")
    typer.echo(f"after: {_said(found.after)}; {found.stopped}")
    typer.echo(f"{out}: {len(plain_json.loads(patch.read_text()))} edits, listed in {patch}")


def _pair(
    bench: Bench,
    source: str,
    target: str,
    data: Path,
    preprocess: str,
    preprocess_b: str | None,
    limit: int | None,
    trust: bool,
) -> tuple[LocalizeParams, dict[str, ArtifactRef], DataManifest]:
    """The job that both commands are, and what it reads."""
    a, b = (bench.model(name, trust=trust) for name in (source, target))
    _check(a, b)
    manifest = bench.data(data, limit)
    params = LocalizeParams(
        source=a.info,
        target=b.info,
        source_recipe=resolve_recipe(preprocess, a.info),
        target_recipe=resolve_recipe(preprocess_b or preprocess, b.info),
        data_kind=manifest.kind,
        shards=len(manifest.shards),
    )
    shards = {f"shard{place}": shard.blob for place, shard in enumerate(manifest.shards)}
    return params, {"source": a.ref, "target": b.ref, **shards}, manifest


def _check(a: ReadyModel, b: ReadyModel) -> None:
    if a.compiled:
        raise InputError(f"{a.source} is a compiled module, whose layers cannot be looked at. Name its model.")
    if b.compiled or b.info.format != "onnx":
        raise InputError(
            f"{b.source} is no ONNX model, and ONNX is what is put right. Convert it first: "
            f"deltann convert {b.source} --to onnx --out FILE.onnx."
        )
    if a.info.image_size != b.info.image_size:
        raise InputError(
            f"{a.source} takes images of {a.info.image_size} and {b.source} of {b.info.image_size}: their layers "
            "cannot be held against each other. deltann compare compares their labels."
        )


def _briefs(one: Suspect) -> list[str]:
    return [brief(edit) for edit in one.edits]


def _ids(positions: tuple[int, ...], manifest: DataManifest) -> list[str]:
    return [manifest.ids[position] for position in positions]


def _said(one: Disagreement) -> str:
    error = "no valid output" if one.error is None else f"mean relative error {one.error:.2g}"
    return f"{len(one.differing)} of {one.n} labels differ, {error}"
