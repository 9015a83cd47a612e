"""``deltann quantize``: one model with fewer bits, and how far it is from what it was."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deltann.artifact import ArtifactRef
from deltann.cli.convert import along
from deltann.cli.home import Home, Json, Trust, print_json, resolve_home
from deltann.cli.model import Force, Model, Source, keep
from deltann.cli.places import check_out
from deltann.cli.single import Bench, ReadyModel
from deltann.errors import InputError
from deltann.kinds.quantize import QUANTIZE, SCHEMES, QuantizeData, QuantizeParams, Scheme
from deltann.kinds.resolve import MAX_SHARD
from deltann.model import Framework
from deltann.preprocess.recipes import resolve_recipe

_ENDINGS: dict[Framework, str] = {"onnx": ".onnx", "tflite": ".tflite"}


def quantize(
    model: Model,
    scheme: Annotated[Scheme, typer.Option("--scheme", help="How")],
    out: Annotated[Path, typer.Option("--out", help="File: .onnx or .tflite, as the scheme makes")],
    calibration: Annotated[Path | None, typer.Option("--calibration", help="Inputs for ranges of activations")] = None,
    inputs: Annotated[int, typer.Option("--inputs", min=1, max=MAX_SHARD, help="How many of them")] = 100,
    preprocess: Annotated[str | None, typer.Option("--preprocess", help="Their recipe, for example tf or none")] = None,
    source: Source = None,
    trust: Trust = False,
    home: Home = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Quantise a model and check what came out against what went in."""
    facts = SCHEMES[scheme]
    ending = _ENDINGS[facts.makes]
    if out.suffix != ending:
        raise InputError(f"A model of {scheme} is a {ending} file: --out {out}{ending} rather than {out}.")
    if facts.calibrated and (calibration is None or preprocess is None):
        raise InputError(
            f"{scheme} takes the ranges of activations from inputs: name them with --calibration, a folder of images "
            "or an .npz, and say with --preprocess how the model is fed."
        )
    check_out(out, force)
    bench = Bench.at(resolve_home(home))
    ready = bench.model(model, framework=source, trust=trust)
    if ready.compiled:
        raise InputError(f"{model} is a compiled module; only models can be quantised.")
    if ready.info.framework == facts.makes == "tflite":
        raise InputError(f"{scheme} quantises what a TFLite file is made of, not the file {model}.")
    at = ready if ready.info.framework in facts.reads else along(bench, ready, ("onnx",))[0]
    params = QuantizeParams(scheme=scheme, info=at.info)
    sources: dict[str, ArtifactRef] = {"model": at.ref}
    if facts.calibrated:
        params, sources["calibration"] = _calibrated(bench, params, at, Path(str(calibration)), inputs, str(preprocess))
    made = bench.do(QUANTIZE, params, sources, f"quantising {model} by {scheme}")
    keep(bench, made.artifacts["model"], out)
    found = QuantizeData.model_validate(made.data)
    if json:
        print_json({"out": out.absolute(), **found.model_dump(mode="json")})
        return
    parity = found.parity
    far = "no valid output" if parity.max_rel is None else f"the largest relative error is {parity.max_rel:.1e}"
    typer.echo(f"{scheme} by {found.version}, {found.seconds:.1f} s; over {parity.n} seeded inputs {far}")
    typer.echo(f"{out}: {found.size_after:,} bytes, {found.size_after / max(found.size_before, 1):.2f} of before")


def _calibrated(
    bench: Bench, params: QuantizeParams, at: ReadyModel, data: Path, inputs: int, recipe: str
) -> tuple[QuantizeParams, ArtifactRef]:
    """With the first inputs of a data set.

    Raises:
        InputError: where it has none that can be used.
    """
    manifest = bench.data(data, inputs)
    if not manifest.n:
        raise InputError(f"The calibration set {data} has no input that can be used, so there are no ranges.")
    chosen = {"recipe": resolve_recipe(recipe, at.info), "data_kind": manifest.kind, "inputs": manifest.n}
    return params.model_copy(update=chosen), manifest.shards[0].blob
