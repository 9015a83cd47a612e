"""The edit script that leads from the target's nodes in a place to the source's, where the source is ONNX too.

Nodes are paired by their operators in order. What differs in a pair (attributes, constants, inputs), what the target
has too many and what it lacks are parts of one proposal, of which the needless are dropped once it proves right: so
several faults in one place are told apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from deltann.faults.edits import InsertNode, RemoveNode, ReplaceOp, Rewire, SetAttribute, SetInitializer, Tensor
from deltann.faults.parameters import SAME, ParameterFault, name_fault
from deltann.layers.layout import relative_error
from deltann_converter.repair.operators import constants, weights
from deltann_converter.repair.operators.base import Operator, Proposal
from deltann_converter.repair.operators.hyperparameters import attributes
from deltann_converter.repair.site import Site, SourceNode


def propose(site: Site) -> Iterator[Proposal]:
    """The whole script, if there is one."""
    if not site.source or any(one.proto is None for one in site.source):
        return
    parts = list(_Script(site).parts())
    if parts:
        edits = tuple(edit for part in parts for edit in part.edits)
        yield Proposal(parts[0].node, parts[0].kind, "", edits, parts=tuple(parts))


class _Script:
    """``values`` are the target's names of the source's values; ``passed`` what stands for outputs that are removed."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._held = {(node.output[0], slot): own for node, slot, own in site.constants()}
        self._values: dict[str, str] = dict(site.known)
        self._passed: dict[str, str] = {}

    def parts(self) -> Iterator[Proposal]:
        site = self._site
        mine, right = [node.op_type for node in site.nodes], [one.proto.op_type for one in site.source]
        pairs: list[tuple[Any, SourceNode]] = []
        missing: list[SourceNode] = []
        needless: list[Any] = []
        for tag, a, b, c, d in SequenceMatcher(None, mine, right, autojunk=False).get_opcodes():
            if tag == "equal" or (tag == "replace" and b - a == d - c):
                pairs += list(zip(site.nodes[a:b], site.source[c:d], strict=True))
                continue
            needless += site.nodes[a:b]
            missing += [one for one in site.source[c:d] if not self._is_elsewhere(one)]
        for node, other in pairs:
            self._values.update(zip(other.proto.output, node.output, strict=False))
        gone = [self._too_many(node) for node in needless]
        made = [self._missing(other) for other in missing]
        for node, other in pairs:
            yield from self._pair(node, other)
        # what is put behind the site's output takes its name: nodes are named for the last time before
        for other, new in zip(missing, made, strict=True):
            moved = next((one for one, node in zip(gone, needless, strict=True) if _same(node, other)), None)
            if moved in gone:
                del needless[gone.index(moved)]
                gone.remove(moved)
                yield replace(moved, kind="order swapped", evidence=new.evidence, edits=(*moved.edits, *new.edits))
            else:
                yield new
        yield from gone

    def _is_elsewhere(self, one: SourceNode) -> bool:
        """Whether the target has what this node writes, outside of the site."""
        return all(
            name in self._site.known and self._site.known[name] != self._site.output for name in one.node.outputs
        )

    def _too_many(self, node: Any) -> Proposal:
        slot = next((slot for slot in range(len(node.input)) if (node.output[0], slot) not in self._held), 0)
        self._passed[node.output[0]] = node.input[slot]
        said = f"The source has no such {node.op_type}."
        return Proposal(
            node.output[0], "node too many", said, (RemoveNode(node=node.output[0], slot=slot),), stage="graph"
        )

    def _missing(self, other: SourceNode) -> Proposal:
        moving = [name for name in other.proto.input if name and name not in other.parameters]
        value = self._values.get(moving[0], moving[0]) if moving else ""
        output = f"{self._site.output}_{other.proto.output[0]}_inserted"
        self._values[other.proto.output[0]] = output
        edit = InsertNode(
            value=value,
            output=output,
            op_type=other.proto.op_type,
            attributes=attributes(other.proto),
            constants=tuple(Tensor.of(other.parameters[n]) for n in other.proto.input if n in other.parameters),
            first=bool(other.parameters) and other.proto.input[0] in other.parameters,
        )
        readers = [node.output[0] for node in self._site.nodes if value in node.input]
        about = readers[0] if readers else self._site.output
        said = f"The source's {other.node.name} ({other.proto.op_type}) behind {value} is missing."
        return Proposal(about, f"node missing: {other.proto.op_type}", said, (edit,), stage="graph")

    def _pair(self, node: Any, other: SourceNode) -> Iterator[Proposal]:
        output, proto = node.output[0], other.proto
        own, right = attributes(node), attributes(proto)
        if node.op_type != proto.op_type:
            edit = ReplaceOp(node=output, op_type=proto.op_type, attributes=right)
            said = f"It is {node.op_type} where {other.node.name} of the source is {proto.op_type}."
            kind = f"operator {node.op_type} instead of {proto.op_type}"
            yield Proposal(output, kind, said, (edit,), stage="graph")
        else:
            for name in {**own, **right}:
                if own.get(name) != right.get(name):
                    said = (
                        f"Its {name} is {own.get(name, 'not set')}; of {other.node.name} {right.get(name, 'not set')}."
                    )
                    change = SetAttribute(node=output, name=name, value=right.get(name))
                    yield Proposal(output, f"attribute {name}", said, (change,), stage="hyperparameters")
        wires = []
        for slot, name in enumerate(proto.input):
            if name in other.parameters:
                yield from self._constant(node, slot, name, other.parameters[name])
                continue
            wanted, have = self._values.get(name), node.input[slot] if slot < len(node.input) else None
            if wanted is None or have is None or wanted.endswith("_inserted"):  # what is inserted is read by all
                continue
            if self._behind(have) != wanted:
                wires.append(Rewire(node=output, slot=slot, value=wanted))
        if wires:
            same = sorted(edit.value for edit in wires) == sorted(node.input[edit.slot] for edit in wires)
            kind = "inputs in another order" if same else "wired to another value"
            said = (
                f"It reads {', '.join(node.input[one.slot] for one in wires)} for {', '.join(o.value for o in wires)}."
            )
            yield Proposal(output, kind, said, tuple(wires), stage="graph")

    def _behind(self, name: str) -> str:
        """What a node reads once the nodes that are too many are gone."""
        while name in self._passed:
            name = self._passed[name]
        return name

    def _constant(self, node: Any, slot: int, name: str, right: np.ndarray) -> Iterator[Proposal]:
        own = self._held.get((node.output[0], slot))
        if own is None and slot < len(node.input) and node.input[slot]:
            return  # it is computed here
        if own is not None and own.shape == right.shape and relative_error(right, own) <= SAME:
            return
        hyper = constants.says(node, right)
        what = constants.name_of(node, slot) if hyper else weights.name_of(node, slot)
        fault = "missing" if own is None else name_fault(right, own) or ParameterFault.LAYOUT
        kind = f"{what}: {'other values' if hyper and own is not None else fault}"
        said = f"Its {what} is not {name} of the source: {fault}."
        edit = SetInitializer(node=node.output[0], slot=slot, values=Tensor.of(right))
        stage = "hyperparameters" if hyper else "parameters"
        yield Proposal(node.output[0], kind, said, (edit,), stage=stage)


def _same(node: Any, other: SourceNode) -> bool:
    return bool(node.op_type == other.proto.op_type and attributes(node) == attributes(other.proto))


OPERATOR = Operator("script", "graph", propose)
