"""``deltann localize``: which nodes of a converted model are wrong, and which step and tool of its conversion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, TypeAdapter

from deltann.cli.holding import Asked, Data, Limit, OtherRecipe, Pair, Recipe, SourceModel, TargetModel, hold, said
from deltann.cli.home import Home, Json, Trust, print_json, resolve_home
from deltann.cli.model import Force, keep
from deltann.cli.places import check_out
from deltann.cli.single import Bench, ReadyModel
from deltann.errors import InputError, WorkError
from deltann.faults.edits import brief
from deltann.faults.layers import LayerFacts, Layers
from deltann.faults.suspect import Suspect
from deltann.kinds.convert import ConvertData, ConvertParams, Parity, suspicious
from deltann.kinds.repair import LocalizeData
from deltann.model import Framework
from deltann.plan.nodes import hops
from deltann.service import find_service

_SUSPECTS: TypeAdapter[list[Suspect]] = TypeAdapter(list[Suspect])
_SHOWN, _SIGNIFICANT = 5, 0.05


class ToolVerdict(BaseModel):
    """A step of the conversion made again by one tool: its parity with the step's source, or why it failed."""

    source: Framework
    target: Framework
    tool: str
    version: str = ""
    parity: Parity | None = None
    failed: str = ""

    @property
    def text(self) -> str:
        """In a line for a person."""
        step = f"{self.source} → {self.target} by {self.version or self.tool}"
        if self.failed:
            return f"{step}: {self.failed}"
        if self.parity is None:
            return f"{step}: not checked"
        error = (
            "no valid output" if self.parity.max_rel is None else f"largest relative error {self.parity.max_rel:.1e}"
        )
        return f"{step}: {'changed the model' if suspicious(self.parity) else 'sound'}, {error}"


def localize(
    source: SourceModel,
    target: TargetModel,
    data: Data,
    preprocess: Recipe,
    preprocess_b: OtherRecipe = None,
    limit: Limit = None,
    tools: Annotated[
        bool, typer.Option("--tools", help="Also make every step of the conversion again, by every tool there is")
    ] = False,
    reproducers: Annotated[
        Path | None, typer.Option(help="Folder for the smallest parts that show the faults, with scripts")
    ] = None,
    trust: Trust = False,
    home: Home = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Say which nodes of a converted model are wrong, what kind of fault each has, and how that shows."""
    if reproducers is not None:
        check_out(reproducers, force, "folder")
    bench = Bench.at(resolve_home(home))
    pair = hold(bench, Asked(source, target, data, preprocess, preprocess_b, limit, trust))
    verdicts = try_tools(bench, pair.source, pair.target.info.framework) if tools else []
    made = bench.do("localize", pair.params, pair.sources, f"holding {target} against {source}")
    found = LocalizeData.model_validate(made.data)
    read = {name: bench.store.materialise(ref, bench.cache) for name, ref in made.artifacts.items()}
    suspects = _SUSPECTS.validate_json(read["suspects"].read_bytes()) if "suspects" in read else []
    layers = Layers.model_validate_json(read["layers"].read_bytes()) if "layers" in read else Layers()
    if reproducers is not None and "reproducers" in made.artifacts:
        keep(bench, made.artifacts["reproducers"], reproducers)
    if json:
        listed = [one.model_dump(mode="json", exclude={"edits"}) | {"edits": _briefs(one)} for one in suspects]
        ids = [pair.manifest.ids[at] for at in found.inputs]
        print_json(
            {
                **found.model_dump(mode="json"),
                "suspects": listed,
                "inputs": ids,
                "tools": [one.model_dump(mode="json") for one in verdicts],
                "layers": [one.model_dump(mode="json") for one in layers.layers],
                "unmatched": layers.unmatched,
            }
        )
        return
    for verdict in verdicts:
        typer.echo(verdict.text)
    _tell(pair, found, suspects, layers)
    if reproducers is not None:
        typer.echo(f"{reproducers}: " + ("one for each of the first suspects" if suspects else "nothing to show"))


def try_tools(bench: Bench, source: ReadyModel, target: Framework) -> list[ToolVerdict]:
    """Every step from a model to a framework, by every tool; later steps start from what the preferred tool made.

    Raises:
        InputError: where the model is of that framework already.
    """
    if source.info.framework == target:
        raise InputError(f"{source.source} is a model of {target} already: there is no conversion to make again.")
    known = find_service("converter").tools
    found: list[ToolVerdict] = []
    at: ReadyModel | None = source
    for hop in hops(source.info.framework, target):
        if at is None:
            break
        start, at = at, None
        for tool in [name for a, b, name in known if (a, b) == (start.info.framework, hop)]:
            verdict, made = _try(bench, start, hop, tool)
            found.append(verdict)
            at = at or made
    return found


def _try(bench: Bench, start: ReadyModel, target: Framework, tool: str) -> tuple[ToolVerdict, ReadyModel | None]:
    source = start.info.framework
    params = ConvertParams(source=source, target=target, info=start.info, tool=tool)
    try:
        result = bench.do("convert", params, {"model": start.ref}, f"{source} to {target} by {tool}")
    except WorkError as error:
        return ToolVerdict(source=source, target=target, tool=tool, failed=str(error)), None
    data = ConvertData.model_validate(result.data)
    verdict = ToolVerdict(
        source=source, target=target, tool=tool, version=f"{tool} ({data.step.version})", parity=data.parity
    )
    return verdict, ReadyModel(start.source, result.artifacts["model"], data.info)


def _tell(pair: Pair, found: LocalizeData, suspects: Sequence[Suspect], layers: Layers) -> None:
    assert found.agreement is not None, "only a sweep's job is not done where nothing was doubted"
    typer.echo(f"{pair.target.source} against {pair.source.source}: {said(found.agreement)}")
    if found.followed:
        typer.echo(f"Followed in ONNX, converted by {found.followed}; the names below are of that.")
    for rank, one in enumerate(suspects, 1):
        typer.echo(f"{rank}. {one.node} ({one.op_type}), {one.stage}: {one.kind}")
        for line in (*one.evidence, *(f"repair: {edit}" for edit in _briefs(one))):
            typer.echo(f"     {line}")
    ranked = sorted((one for one in layers.layers if _p(one) <= _SIGNIFICANT), key=_p)[:_SHOWN]
    if suspects and ranked:
        typer.echo("Layers whose errors go with changed labels (Kruskal-Wallis, corrected):")
        for layer in ranked:
            typer.echo(f"     {layer.node}: p = {layer.p:.2g}, median error {layer.median_error:.2g}")
    if not suspects:
        typer.echo(found.note or "No node of the target is wrong: the conversion is sound.")


def _p(one: LayerFacts) -> float:
    return 1.0 if one.p is None else one.p


def _briefs(one: Suspect) -> list[str]:
    return [brief(edit) for edit in one.edits]
