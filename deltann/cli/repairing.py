"""``deltann repair``: a converted model put right, and the repaired one held against its source once more."""

from __future__ import annotations

import json as plain_json
from pathlib import Path
from typing import Annotated

import typer

from deltann.artifact import ArtifactRef
from deltann.cli.agreement import Agreement, compare_outputs
from deltann.cli.holding import Asked, Data, Limit, OtherRecipe, Pair, Recipe, SourceModel, TargetModel, hold, said
from deltann.cli.home import Home, Json, Trust, print_json, resolve_home
from deltann.cli.model import Force, keep
from deltann.cli.outputs import execute
from deltann.cli.places import check_out
from deltann.cli.single import Bench, ReadyModel
from deltann.errors import InputError, WorkError
from deltann.kinds.compile import LEVELS, CompileParams, ImportData, ImportParams
from deltann.kinds.repair import RepairData, RepairParams
from deltann.model import ModelInfo
from deltann.targets import HOST


def repair(
    source: SourceModel,
    target: TargetModel,
    data: Data,
    preprocess: Recipe,
    out: Annotated[Path, typer.Option("--out", help="The repaired model, an .onnx; its patch list goes beside it")],
    preprocess_b: OtherRecipe = None,
    limit: Limit = None,
    seconds: Annotated[float, typer.Option(min=1, help="After so long no further edit is tried")] = 600.0,
    tvm: Annotated[bool, typer.Option("--tvm/--no-tvm", help="Also run the repaired model compiled by TVM")] = True,
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
    asked = Asked(source, target, data, preprocess, preprocess_b, limit, trust)
    pair = hold(bench, asked)
    wanted = RepairParams(**pair.params.model_dump(), seconds=seconds)
    made = bench.do("repair", wanted, pair.sources, f"repairing {target}")
    found = RepairData.model_validate(made.data)
    keep(bench, made.artifacts["model"], out)
    keep(bench, made.artifacts["patch"], patch)
    compiled = _in_tvm(bench, pair, asked, made.artifacts["model"], found.info) if tvm else None
    if json:
        checked = compiled.model_dump(mode="json") if isinstance(compiled, Agreement) else {"failed": compiled}
        print_json(
            {
                "out": out.absolute(),
                "patch": patch.absolute(),
                **found.model_dump(mode="json"),
                "tvm": checked if tvm else None,
            }
        )
        return
    typer.echo(f"before: {said(found.before)}")
    for step in found.steps:
        typer.echo(f"  {'kept' if step.kept else 'reverted'}: {step.node}, {step.kind}; then {said(step.agreement)}")
    typer.echo(f"after: {said(found.after)}; {found.stopped}")
    if tvm:
        typer.echo(f"compiled by TVM: {_in_words(compiled)}")
    typer.echo(f"{out}: {len(plain_json.loads(patch.read_text()))} edits, listed in {patch}")
    if found.followed:
        back = pair.target.info.framework
        typer.echo(f"{target} was followed in ONNX; deltann convert {out} --to {back} --out … gives it back.")


def _in_tvm(bench: Bench, pair: Pair, asked: Asked, model: ArtifactRef, info: ModelInfo) -> Agreement | str:
    """The repaired model, compiled, against the source over the same inputs; why not, where it could not be."""
    try:
        imported = bench.do(
            "import", ImportParams(info=info), {"model": model}, "importing the repaired model into TVM"
        )
        ir = ImportData.model_validate(imported.data)
        sources = {"ir": imported.artifacts["ir"]}
        made = bench.do(
            "compile", CompileParams(info=ir.info, target=HOST, level=LEVELS["default"]), sources, "compiling it"
        )
        module = ReadyModel(str(asked.target), made.artifacts["module"], ir.info, compiled=True)
        recipe = asked.preprocess_b or asked.preprocess
        right = execute(bench, pair.source, pair.manifest, asked.preprocess, 1, 1)
        return compare_outputs(right, execute(bench, module, pair.manifest, recipe, 1, 1))
    except WorkError as error:
        return str(error)


def _in_words(found: Agreement | str | None) -> str:
    if isinstance(found, Agreement):
        lost = f", {found.n_invalid_b} with NaN or Inf" if found.n_invalid_b else ""
        return f"{len(found.differing)} of {found.n} labels differ{lost}"
    return found or "not run"
