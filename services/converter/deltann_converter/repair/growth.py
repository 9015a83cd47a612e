"""Every layer of a target over several inputs: what each holds, how errors grow along the graph, and what goes with
changed labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from deltann_engines.graphs import Graph
from deltann_engines.graphs.onnx import OnnxGraph
from deltann_engines.replay import Held

from deltann.faults.edits import SetInitializer
from deltann.faults.layers import LayerFacts, Layers, Picture
from deltann.faults.suspect import Suspect
from deltann.layers.layout import layouts
from deltann_converter.repair.localising import Located
from deltann_converter.repair.pictures import picture
from deltann_converter.repair.ranking import ranking
from deltann_converter.repair.watching import Seen, Way, watch

_PICTURED = 3
"""Suspects whose tensors are drawn."""


def grow(
    located: Located,
    source: Graph,
    target: OnnxGraph,
    pairs: Sequence[tuple[np.ndarray, np.ndarray]],
    differs: Sequence[bool],
    folder: Path,
) -> Layers:
    """Run both models layer by layer on every input.

    Args:
        located: what was found on the first of the inputs.
        source: the model as it should be.
        target: what was converted.
        pairs: inputs, as the source takes them and as the target does.
        differs: for each whether its label changes.
        folder: for the source's values; it is removed.

    Returns:
        Layers in the order of the target, without ``inputs``.
    """
    suspects = located.suspects[:_PICTURED]
    ways, outputs = _ways(located), [one.output for one in located.held]
    shown = {one.output: _shown(one, outputs, ways) for one in suspects}
    seen = [watch(source, target, x, y, ways, set(shown.values()), folder) for x, y in pairs]
    errors = np.array([[one.errors.get(name, np.nan) for name in outputs] for one in seen])
    tested = [at for at in range(len(outputs)) if not np.isnan(errors[:, at]).any()]
    ranked = ranking(errors[:, tested], np.asarray(differs, bool)) if tested else None
    p = dict(zip(tested, ranked, strict=True)) if ranked is not None else {}
    facts = tuple(
        _facts(one, located, target, seen[0], errors[:, at], p.get(at)) for at, one in enumerate(located.held)
    )
    known = {one.source for one in located.held} | {source.feed}
    unmatched = tuple(name for name in located.recording.signatures if name not in known)
    return Layers(layers=facts, unmatched=unmatched, pictures=tuple(_pictures(suspects, shown, target, seen[0])))


def _ways(located: Located) -> dict[str, Way]:
    """Of every output that is known."""
    found = {}
    for one in located.held:
        right = located.places.right.get(one.output)
        if one.source is None or right is None:
            continue
        for layout, values in enumerate(layouts(located.recording.value(one.source), right.shape)):
            if np.array_equal(values.astype(right.dtype), right, equal_nan=right.dtype.kind == "f"):
                found[one.output] = Way(one.source, layout)
                break
    return found


def _facts(
    one: Held, located: Located, target: OnnxGraph, worst: Seen, errors: np.ndarray, p: float | None
) -> LayerFacts:
    known = errors[~np.isnan(errors)]
    return LayerFacts(
        node=one.node,
        op_type=target.protos[one.node].op_type,
        output=one.output,
        source=one.source,
        match=_match(one, located),
        own_error=one.error,
        error=worst.errors.get(one.output),
        median_error=float(np.median(known)) if known.size else None,
        p=p,
        right=worst.right.get(one.output),
        found=worst.found.get(one.output),
    )


def _match(one: Held, located: Located) -> str:
    if one.source is None:
        return "no value of the source holds the same"
    if one.output not in located.taken:
        return "holds the same values, whatever their order"
    if one.output in located.unsure:
        return "holds other values; depends on the same ones as that value does, and nothing bears it out"
    return "holds other values; with that value in its place, what follows is recognised again"


def _shown(suspect: Suspect, outputs: Sequence[str], ways: Mapping[str, Way]) -> str:
    """The suspect's output, or where the source has no such value, the first after it that it has."""
    after = outputs[outputs.index(suspect.output) :] if suspect.output in outputs else ()
    return next((name for name in after if name in ways), suspect.output)


def _pictures(
    suspects: Sequence[Suspect], shown: Mapping[str, str], target: OnnxGraph, worst: Seen
) -> Iterator[Picture]:
    """The activations of the suspects, and the parameters that their edits change."""
    for suspect in suspects:
        drawn = []
        if shown[suspect.output] in worst.kept:
            drawn.append(picture(suspect.node, "activation", *worst.kept[shown[suspect.output]]))
        for edit in suspect.edits:
            found = _constant(target, edit) if isinstance(edit, SetInitializer) else None
            if found is not None and isinstance(edit, SetInitializer) and found.shape == edit.values.shape:
                drawn.append(picture(suspect.node, f"input {edit.slot}", edit.values.values, found))
        yield from (one for one in drawn if one is not None)


def _constant(target: OnnxGraph, edit: SetInitializer) -> np.ndarray | None:
    """What the edited input holds now, where that is constant."""
    node = next((one for one in target.nodes if edit.node in one.outputs), None)
    if node is None:
        return None
    names = list(target.protos[node.name].input)
    return target.parameters(node).get(names[edit.slot]) if edit.slot < len(names) else None
