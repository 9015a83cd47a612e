"""``deltann convert`` and ``run``: one model, without a study."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from deltann.artifact import ArtifactRef
from deltann.cli.convert import Converted, convert_here, convert_there
from deltann.cli.home import Gateway, Home, Json, Trust, print_json, refuse_trust, resolve_home
from deltann.cli.outputs import execute, write_outputs
from deltann.cli.places import check_out, written
from deltann.cli.single import Bench
from deltann.errors import InputError
from deltann.model import Framework

Model = Annotated[str, typer.Argument(help="A file or folder, torchvision:NAME@WEIGHTS, keras:… or a loader")]
Source = Annotated[Framework | None, typer.Option("--from", help="Framework of MODEL, where its name does not tell")]
_ENDINGS: dict[Framework, str] = {"pytorch": ".pt2", "tflite": ".tflite", "onnx": ".onnx"}
"""Of what is written as a file: DeltaNN reads a model by it."""
Force = Annotated[bool, typer.Option("--force", help="Replace what is there")]


def convert(
    model: Model,
    to: Annotated[Framework, typer.Option("--to", help="Framework to convert to")],
    out: Annotated[Path, typer.Option("--out", help="File, or folder for a SavedModel or a CoreML package")],
    source: Source = None,
    tool: Annotated[str | None, typer.Option(help="A converter by name, instead of the preferred one")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Do not normalise the ONNX in between")] = False,
    direct: Annotated[bool, typer.Option("--direct", help="By a converter that needs no ONNX in between")] = False,
    gateway: Gateway = None,
    trust: Trust = False,
    home: Home = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Convert a model and check what came out against what went in."""
    _check_converted(out, to, force)
    if gateway:
        refuse_trust(trust, gateway)
        done = convert_there(gateway, model, to, out, source=source, tool=tool, normalise=not raw)
    else:
        bench = Bench.at(resolve_home(home))
        ready = bench.model(model, framework=source, trust=trust)
        done = convert_here(bench, ready, to, tool=tool, normalise=not raw, direct=direct)
        keep(bench, done.model, out)
    if json:
        print_json({"out": out.absolute(), **done.model_dump(mode="json", exclude={"model"})})
        return
    _print_steps(done)
    typer.echo(f"{out}: {done.note or done.format}")


def run(
    model: Annotated[str, typer.Argument(help="A model, or a module that `deltann compile` wrote")],
    data: Annotated[Path, typer.Option("--data", help="A folder of images, or an .npz")],
    out: Annotated[Path, typer.Option("--out", help="Where the outputs go, an .npz")],
    preprocess: Annotated[str, typer.Option(help="Recipe: tf, torchvision, caffe, unit, pixels, none, …")],
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many inputs")] = None,
    k: Annotated[int, typer.Option("--top-k", min=1, max=100, help="How many labels to keep")] = 5,
    threads: Annotated[int, typer.Option(min=1)] = 1,
    source: Source = None,
    trust: Trust = False,
    home: Home = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Run a model or module over inputs and keep what it answers."""
    if out.suffix != ".npz":
        raise InputError(f"Outputs are an .npz file: --out {out}.npz rather than {out}.")
    check_out(out, force)
    bench = Bench.at(resolve_home(home))
    ready = bench.model(model, framework=source, trust=trust)
    manifest = bench.data(data, limit)
    outputs = execute(bench, ready, manifest, preprocess, k, threads)
    write_outputs(outputs, out)
    valid = int(outputs.valid.sum())
    known = [
        label == int(top[0]) for label, top in zip(manifest.labels, outputs.labels, strict=True) if label is not None
    ]
    accuracy = sum(known) / len(known) if known else None
    if json:
        left_out = [item.model_dump() for item in manifest.left_out]
        print_json(
            {"out": out.absolute(), "n": manifest.n, "n_valid": valid, "accuracy_top1": accuracy, "left_out": left_out}
        )
        return
    for item in manifest.left_out:
        typer.echo(f"left out: {item.id}: {item.why}", err=True)
    typer.echo(
        f"{out}: {manifest.n} inputs"
        + (f", {manifest.n - valid} with NaN or Inf" if valid < manifest.n else "")
        + (f", top-1 accuracy {accuracy:.3f}" if accuracy is not None else "")
    )


def keep(bench: Bench, ref: ArtifactRef, out: Path) -> None:
    """Copy an artifact out of the store: a file or a folder."""
    made = bench.store.materialise(ref, bench.cache)
    with written(out) as new:
        if made.is_dir():
            shutil.copytree(made, new)
        else:
            shutil.copyfile(made, new)


def _check_converted(out: Path, to: Framework, force: bool) -> None:
    if to == "keras" and out.suffix in (".keras", ".h5"):
        raise InputError(
            f"A converted model does not load again from a {out.suffix} file: its layers lack what Keras needs. "
            "Name a folder: a SavedModel is written, which plain Keras loads with keras.layers.TFSMLayer."
        )
    if to == "coreml" and out.suffix != ".mlpackage":
        raise InputError(f"A CoreML package is a folder that ends in .mlpackage: --out {out}.mlpackage.")
    ending = _ENDINGS.get(to)
    if ending and out.suffix != ending:
        raise InputError(f"A model of {to} is a {ending} file: --out {out}{ending} rather than {out}.")
    check_out(out, force, "file" if ending else "folder")


def _print_steps(done: Converted) -> None:
    for step in done.steps:
        text = f"{step.source} → {step.target} by {step.tool} {step.version}, {step.seconds:.1f} s"
        if step.parity is not None and step.parity.max_rel is not None:
            agreement = step.parity.top1_agreement
            text += f"; over {step.parity.n} inputs the largest relative error is {step.parity.max_rel:.1e}"
            text += f", labels agree on {agreement:.0%}" if agreement is not None else ""
        typer.echo(text)
