"""Where a target first leaves its source, and where else: each fault by itself, however many follow each other.

A node that is fed right and writes something that is no value of the source is where the two part. To see past it, its
output is taken for a value of the source that it could be, one that depends on the same values, and the target is
replayed with that in its place: the choice is right where what comes after is recognised again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deltann.layers.graph import Node
from deltann.layers.layout import layouts
from deltann.layers.signature import distance, likeness
from deltann_engines.graphs import Graph
from deltann_engines.recording import Recording
from deltann_engines.replay import Choice, Held, Replay, Taken, replay, usual_layouts

SOUND = 1e-4
"""Own errors of nodes up to this are rounding: most are 1e-6, a convolution with half-precision weights has 1e-3."""

_OUTPUTS, _VALUES = 4, 8
"""How many outputs in a row are tried, and for each how many values of the source."""

_HORIZON = 48
"""Nodes from the first lost one on by which a choice is judged."""

_PARTS = 6
"""Outputs that are tried as parts of what was split up: each takes a replay."""

_SAME = 1e-6


@dataclass(frozen=True)
class Fault:
    """A node of the target that is wrong by itself.

    Args:
        node: of the target.
        output: its value.
        source: the source's value that it should be, None where none could be found.
        error: how far it is from it, relative to the root mean square of the source's; None where there is none.
        sure: whether what follows the node is recognised once its output is put right.
        failed: what the framework said, where the node could not be run.
    """

    node: str
    output: str
    source: str | None
    error: float | None
    sure: bool
    failed: str | None = None


def find_faults(
    source: Recording, target: Graph, x: np.ndarray, *, sound: float = SOUND, most: int = 8
) -> tuple[list[Fault], dict[str, Choice]]:
    """All nodes that are wrong by themselves, in order of execution, and what was taken for what could not be known.

    Args:
        source: the values of the source on this input.
        target: the graph under test.
        x: the input as the target takes it.
        sound: own errors up to this are no faults.
        most: faults after which the search ends.
    """
    forced: dict[str, Choice] = {}
    unsure: set[str] = set()
    held = _without_parts(source, target, x, forced, sound)
    while len(forced) < most:
        lost = _lost(held, target.nodes)
        if not lost:
            break
        chosen = _best(source, target, x, forced, held, lost)
        if chosen is None:
            break
        output, taken, gained = chosen
        if not gained:
            unsure.add(output)
        forced[output] = taken
        held = _without_parts(source, target, x, forced, sound)
    return _faults(held, _lost(held, target.nodes), unsure, sound), forced


def _without_parts(
    source: Recording, target: Graph, x: np.ndarray, forced: dict[str, Choice], sound: float
) -> list[Held]:
    """The replay, in which no part of what was split up is taken for the whole that it is like.

    The product of a dense layer is nearly its output where the bias is small. Taken for that it is off, and so is the
    sum with the bias, which is fed the output; left as it is, the sum is right. ``forced`` is told what is left.
    """
    held, tried = replay(source, target, x, forced), set[str]()
    while len(tried) < _PARTS:
        doubted = next((one for one in held if _wrong(one, sound) and one.output not in {*tried, *forced}), None)
        if doubted is None:
            break
        tried.add(doubted.output)
        again = replay(source, target, x, {**forced, doubted.output: None})
        right = {one.source for one in again if one.source is not None and not _wrong(one, sound)}
        fewer = sum(_wrong(one, sound) for one in again) < sum(_wrong(one, sound) for one in held)
        if fewer and doubted.source in right and len(_lost(again, target.nodes)) <= len(_lost(held, target.nodes)):
            forced[doubted.output], held = None, again
    return held


def _wrong(one: Held, sound: float) -> bool:
    return one.failed is None and one.error is not None and one.error > sound


def _faults(held: Sequence[Held], lost: Sequence[str], unsure: set[str], sound: float) -> list[Fault]:
    found = []
    for one in held:
        wrong = one.error is not None and one.error > sound
        if wrong or one.failed is not None or (lost and one.output == lost[0]):
            sure = one.output not in unsure and one.output not in lost
            found.append(Fault(one.node, one.output, one.source, one.error, sure, one.failed))
    return found


def _lost(held: Sequence[Held], nodes: Sequence[Node]) -> list[str]:
    """Outputs that are no value of the source, nor followed by one: the others are parts of what was split up."""
    known = {one.output for one in held if one.source is not None}
    alive: set[str] = set()  # values from which a known one follows
    for node in reversed(nodes):
        if any(name in known or name in alive for name in node.outputs):
            alive.update(node.inputs)
    return [one.output for one in held if one.output not in known and one.output not in alive]


def _best(
    source: Recording,
    target: Graph,
    x: np.ndarray,
    forced: Mapping[str, Choice],
    held: Sequence[Held],
    lost: Sequence[str],
) -> tuple[str, Taken, int] | None:
    """What to take for which lost output: where most of what follows is recognised again, and how much that is.

    A value that follows counts where it is another than the one taken: what only moves it says nothing.
    """
    at = {name: index for index, node in enumerate(target.nodes) for name in node.outputs}
    first = min(at[name] for name in lost)
    end = first + _HORIZON  # of all choices the same, so that the earlier of two nodes in a row explains more
    most = sum(at[name] < end for name in lost) - 1
    start = Replay(source, target, x)
    start.advance(first, forced)
    before = {one.output for one in held if one.source is not None}
    best: tuple[str, Taken, int] | None = None
    for output, taken in _choices(source, target, held, lost):
        if best is not None and best[2] >= most:
            break
        own = source.signatures[taken.source]
        again = start.fork().advance(end, {**forced, output: taken})
        known = [one for one in again if one.source is not None and one.output not in before and one.output != output]
        gained = sum(distance(source.signatures[str(one.source)], own) > _SAME for one in known)
        gained += int(output == target.result and taken.source == source.result)
        if best is None or gained > best[2]:
            best = (output, taken, gained)
    return best


def _choices(
    source: Recording, target: Graph, held: Sequence[Held], lost: Sequence[str]
) -> Iterator[tuple[str, Taken]]:
    """Lost outputs with what they could be: values of the source that depend on the same known values, if any do."""
    known = {one.output: one.source for one in held if one.source is not None} | {target.feed: source.feed}
    taken = {name for name in known.values() if name is not None}
    before = {name: _nearest(target.nodes, name, set(known)) for name in lost}
    outputs = [name for name in lost if before[name] >= before[lost[0]]][:_OUTPUTS]
    free = [name for name in source.signatures if name not in taken]
    behind = {name: _nearest(source.nodes, name, taken) for name in free}
    wanted = {name: {known[value] for value in before[name]} for name in outputs}
    apart = {(a, b): 0 if wanted[a] == behind[b] else 1 if wanted[a] & behind[b] else 2 for a in outputs for b in free}
    nearest = min(apart.values(), default=0)  # where none depends on the same, it reads what the source reads elsewhere
    pairs = [
        (output, name)
        for output in outputs
        for name in [one for one in free if apart[output, one] == nearest][:_VALUES]
    ]
    shapes = {one.output: one.shape for one in held}
    made = {name: node.kind for node in target.nodes for name in node.outputs}
    right = {name: node.kind for node in source.nodes for name in node.outputs}
    # what the same operator writes first: of two nodes in a row either could be wrong; then what is alike but for scale
    own = {one.output: one.signature for one in held if one.signature is not None}
    alike = {pair: likeness(source.signatures[pair[1]], own.get(pair[0])) for pair in pairs}
    for output, name in sorted(pairs, key=lambda pair: (made[pair[0]] != right[pair[1]], -alike[pair])):
        fitting = list(layouts(source.value(name), shapes[output])) or usual_layouts(source.value(name))
        for layout, _ in enumerate(fitting):
            yield output, Taken(name, layout)


def _nearest(nodes: Sequence[Node], value: str, known: set[str]) -> set[str]:
    """The known values that a value depends on without another known one in between."""
    maker = {name: node for node in nodes for name in node.outputs}
    found, waiting, seen = set[str](), [value], set[str]()
    while waiting:
        node = maker.get(waiting.pop())
        for name in node.inputs if node is not None else ():
            if name in known:
                found.add(name)
            elif name not in seen:
                seen.add(name)
                waiting.append(name)
    return found
