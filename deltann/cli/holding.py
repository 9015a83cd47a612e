"""A model held against the one that it was converted from: what ``localize`` and ``repair`` share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from deltann.artifact import ArtifactRef
from deltann.cli.single import Bench, ReadyModel
from deltann.errors import InputError
from deltann.kinds.repair import Disagreement, LocalizeParams
from deltann.kinds.resolve import DataManifest
from deltann.preprocess.recipes import resolve_recipe

SourceModel = Annotated[str, typer.Argument(metavar="SOURCE", help="The model as it should be, of any framework")]
TargetModel = Annotated[str, typer.Argument(metavar="TARGET", help="What was converted from it, of any framework")]
Data = Annotated[Path, typer.Option("--data", help="A folder of images, or an .npz")]
Recipe = Annotated[str, typer.Option("--preprocess", help="Recipe of the source, for example tf or none")]
OtherRecipe = Annotated[str | None, typer.Option("--preprocess-b", help="Recipe of the target where it is another")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first so many inputs")]


@dataclass(frozen=True)
class Asked:
    """What the arguments of either command say."""

    source: str
    target: str
    data: Path
    preprocess: str
    preprocess_b: str | None
    limit: int | None
    trust: bool


@dataclass(frozen=True)
class Pair:
    """Both models and the inputs, stored, and the job that holds one against the other."""

    source: ReadyModel
    target: ReadyModel
    manifest: DataManifest
    params: LocalizeParams

    @property
    def sources(self) -> dict[str, ArtifactRef]:
        """What the job reads."""
        shards = {f"shard{place}": shard.blob for place, shard in enumerate(self.manifest.shards)}
        return {"source": self.source.ref, "target": self.target.ref, **shards}


def hold(bench: Bench, asked: Asked) -> Pair:
    """Read both models and the inputs.

    Raises:
        InputError: where either is compiled, or the two take images of other sizes.
    """
    a, b = (bench.model(name, trust=asked.trust) for name in (asked.source, asked.target))
    for one in (a, b):
        if one.compiled:
            raise InputError(f"{one.source} is a compiled module, whose layers cannot be looked at. Name its model.")
    if a.info.image_size != b.info.image_size:
        raise InputError(
            f"{a.source} takes images of {a.info.image_size} and {b.source} of {b.info.image_size}: their layers "
            "cannot be held against each other. deltann compare compares their labels."
        )
    return paired(a, b, bench.data(asked.data, asked.limit), asked.preprocess, asked.preprocess_b or asked.preprocess)


def paired(a: ReadyModel, b: ReadyModel, manifest: DataManifest, recipe: str, recipe_b: str) -> Pair:
    """A source and what came of it, over inputs that each is fed by its recipe."""
    params = LocalizeParams(
        source=a.info.framework,
        target=b.info.framework,
        source_info=a.info,
        target_info=b.info,
        source_recipe=resolve_recipe(recipe, a.info),
        target_recipe=resolve_recipe(recipe_b, b.info),
        data_kind=manifest.kind,
        shards=len(manifest.shards),
    )
    return Pair(a, b, manifest, params)


def said(one: Disagreement) -> str:
    """How far the two are apart, in words."""
    error = "no valid output" if one.error is None else f"mean relative error {one.error:.2g}"
    return f"{len(one.differing)} of {one.n} labels differ, {error}"
