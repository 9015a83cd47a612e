"""``deltann spec``: the language of studies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deltann.cli.home import Json, print_json
from deltann.spec.load import load_study
from deltann.spec.schema import study_schema

app = typer.Typer(help="The language that studies are written in.", no_args_is_help=True)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a study, for editors."""
    print_json(study_schema())


@app.command()
def check(spec: Annotated[Path, typer.Argument(help="The study")], json: Json = False) -> None:
    """Validate a study without running anything; exit code 2 says where it is wrong."""
    study = load_study(spec)
    if json:
        print_json(study)
        return
    natives = sum(len(model.natives) for model in study.models)
    trained = sum(len(list(model.train.runs())) for model in study.models if model.train is not None)
    typer.echo(
        f"{spec}: study {study.name}, {len(study.models)} models, {natives} natives, "
        f"{trained} to train, data {study.data.source}: valid"
    )
