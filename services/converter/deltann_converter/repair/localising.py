"""Suspects of one input: where the target leaves the source, and what explains it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from deltann_engines.divergence import SOUND, Fault, find_faults
from deltann_engines.graphs import Graph
from deltann_engines.graphs.onnx import OnnxGraph
from deltann_engines.recording import Recording
from deltann_engines.replay import Held, replay
from deltann_engines.trace import trace

from deltann.faults.suspect import Stage, Suspect
from deltann.layers.layout import layouts, relative_error
from deltann_converter.repair.operators import REGISTERED
from deltann_converter.repair.operators.base import Proposal
from deltann_converter.repair.places import Places
from deltann_converter.repair.preprocessing import explain, is_fed_right
from deltann_converter.repair.site import Site

_GAIN = 0.1
"""An explanation leaves at most this share of the error."""
_WIDER = 2
"""By how many nodes the place of a fault is made wider where nothing in it explains the fault."""

_Found = tuple[Stage, Proposal, float, float]
"""What explains a fault, its stage, and the error without and with it."""


@dataclass(frozen=True)
class Located:
    """What was found on one input.

    Args:
        suspects: nodes of the target that are wrong by themselves, the most likely first.
        held: every output of the target against the source, each node fed right.
        places: the target with its values as they should be.
        recording: the source's values.
        unsure: outputs that were taken for a value of the source without what follows bearing it out.
        taken: outputs that were taken for one, since they hold something else.
    """

    suspects: list[Suspect]
    held: list[Held]
    places: Places
    recording: Recording
    unsure: frozenset[str]
    taken: frozenset[str]


def localise(
    source: Graph, x: np.ndarray, target: Any, y: np.ndarray, folder: Path, right: np.ndarray | None = None
) -> list[Suspect]:
    """Nodes of the target that are wrong by themselves, the most likely first: :func:`locate`'s suspects."""
    return locate(source, x, target, y, folder, right).suspects


def locate(
    source: Graph, x: np.ndarray, target: Any, y: np.ndarray, folder: Path, right: np.ndarray | None = None
) -> Located:
    """Hold a target against its source on one input.

    Args:
        source: the model as it should be.
        x: an input as the source takes it.
        target: ``onnx.ModelProto`` of what was converted.
        y: the same input as the target takes it.
        folder: to hold the source's values, which is made.
        right: what the target should be fed, where its preprocessing is in doubt too.
    """
    if right is not None and not is_fed_right(target, y, right):
        found = _nodes(source, x, target, right, folder)
        return replace(found, suspects=[explain(target, y, right), *found.suspects])
    return _nodes(source, x, target, y, folder)


def _nodes(source: Graph, x: np.ndarray, target: Any, y: np.ndarray, folder: Path) -> Located:
    recording = Recording(source, x, folder)
    graph = OnnxGraph(target)
    faults, forced = find_faults(recording, graph, y)
    right: dict[str, np.ndarray] = {graph.feed: y}
    held = replay(recording, graph, y, forced, keep=right.__setitem__)
    faults += _ended(recording, graph, held, right)
    names = {one.output: one.source for one in held if one.source is not None} | {graph.feed: source.feed}
    places = Places(source, target, right, names)
    found = [suspect for fault in faults for suspect in _explain(places, fault, graph)]
    free = _inherited(graph, y, found, right)
    found = [one.model_copy(update={"inherited_error": free.get(one.output)}) for one in found]
    suspects = sorted(found, key=lambda one: (not one.edits, not one.sure, -(one.own_error or 0.0)))
    unsure = frozenset(fault.output for fault in faults if not fault.sure)
    return Located(
        suspects,
        held,
        places,
        recording,
        unsure,
        frozenset(name for name, choice in forced.items() if choice is not None),
    )


def _ended(recording: Recording, graph: OnnxGraph, held: list[Held], right: dict[str, np.ndarray]) -> list[Fault]:
    """A fault where the target's result is a value of the source, but another than its result."""
    last = next((one for one in held if one.output == graph.result), None)
    if last is None or last.source in (None, recording.result):
        return []
    expected = recording.value(recording.result)
    fitting = list(layouts(expected, last.shape)) or [expected]
    if any(relative_error(one, right[graph.result]) <= SOUND for one in fitting if one.shape == last.shape):
        return []
    own, right[graph.result] = right[graph.result], np.ascontiguousarray(fitting[0])
    far = relative_error(fitting[0], own) if fitting[0].shape == own.shape else float("inf")
    return [Fault(last.node, graph.result, recording.result, far, sure=True)]


def _explain(places: Places, fault: Fault, graph: Graph) -> list[Suspect]:
    """The first edits that make a site right name the fault, or the several that are in one place."""
    op_type = {node.name: node.kind for node in graph.nodes}
    error = fault.error if fault.error is not None and np.isfinite(fault.error) else None
    plain = Suspect(
        node=fault.node,
        op_type=op_type[fault.node],
        output=fault.output,
        source=fault.source,
        own_error=error,
        sure=fault.sure,
        evidence=(_said(fault),),
    )
    found = _search(places, fault)
    if found is None:
        return [plain]
    stage, proposal, before, after = found
    groups: dict[tuple[str, Stage | None], list[Proposal]] = {}
    for one in proposal.parts or (proposal,):
        groups.setdefault((one.node, one.stage), []).append(one)
    return [_named(plain, stage, _together(parts), before, after, graph) for parts in groups.values()]


def _together(parts: list[Proposal]) -> Proposal:
    """What is wrong with one node in one stage, as one."""
    return replace(
        parts[0],
        kind=" and ".join(dict.fromkeys(one.kind for one in parts)),
        evidence=" ".join(one.evidence for one in parts),
        edits=tuple(edit for one in parts for edit in one.edits),
    )


def _named(plain: Suspect, stage: Stage, one: Proposal, before: float, after: float, graph: Graph) -> Suspect:
    node = next((node for node in graph.nodes if one.node in node.outputs), None)
    proof = f"With it put right, the error of the node alone falls from {before:.2g} to {after:.2g}."
    return plain.model_copy(
        update={
            "node": node.name if node else plain.node,
            "op_type": node.kind if node else plain.op_type,
            "output": one.node if node else plain.output,
            "stage": one.stage or stage,
            "kind": one.kind,
            "evidence": (*plain.evidence, one.evidence, proof),
            "edits": one.edits,
        }
    )


def _search(places: Places, fault: Fault) -> _Found | None:
    """What makes the place of a fault right; a transpose only where nothing does that begins further back."""
    last: _Found | None = None
    for wider in range(_WIDER + 1):
        site = places.site(fault, wider)
        found = _first(site) if site is not None else None
        if found is not None and found[0] != "layout":
            return found
        last = last or found
    return last


def _first(site: Site) -> _Found | None:
    """The first proposal that makes a site right, of one fault if possible; else what leaves least, if little."""
    best: _Found | None = None
    several: _Found | None = None
    before = site.error()
    for operator in REGISTERED:
        for one in operator.propose(site):
            after = site.error(one.edits)
            if after <= SOUND and after < before:
                needed = _needed(site, one)
                if len({(part.node, part.stage) for part in needed.parts}) < 2:
                    return operator.stage, needed, before, after
                several = several or (operator.stage, needed, before, after)
            if after <= before * _GAIN and np.isfinite(before) and (best is None or after < best[3]):
                best = (operator.stage, one, before, after)
    return several or best


def _needed(site: Site, one: Proposal) -> Proposal:
    """A proposal without the parts that it is as right without."""
    parts = list(one.parts)
    for part in one.parts:
        left = [other for other in parts if other is not part]
        if left and site.error([edit for other in left for edit in other.edits]) <= SOUND:
            parts = left
    return replace(one, parts=tuple(parts), edits=tuple(edit for part in parts for edit in part.edits) or one.edits)


def _said(fault: Fault) -> str:
    if fault.failed is not None:
        return f"It cannot be run: {fault.failed}"
    if fault.error is None:
        return "Fed with the source's values it writes something that is no value of the source."
    return f"Fed with the source's values it is off by {fault.error:.2g} from {fault.source}."


def _inherited(
    graph: OnnxGraph, y: np.ndarray, found: list[Suspect], right: Mapping[str, np.ndarray]
) -> dict[str, float]:
    """By output of a suspect, how far what its node reads is off in the target as it is."""
    reads = {one.output: next((n.inputs for n in graph.nodes if one.output in n.outputs), ()) for one in found}
    wanted = {name for names in reads.values() for name in names if name in right}
    errors = {graph.feed: 0.0}

    def take(layer: Any) -> None:
        if layer.output in wanted and layer.values.shape == right[layer.output].shape:
            errors[layer.output] = relative_error(right[layer.output], layer.values)

    with suppress(Exception):  # a target that cannot be run to its end has no more to tell
        trace(graph, y, take)
    known = {output: [errors[name] for name in names if name in errors] for output, names in reads.items()}
    return {output: max(far) for output, far in known.items() if far and np.isfinite(max(far))}
