"""The graph: nodes too many, missing, of another operator, in another order, or wired to another value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from typing import Any

from deltann.faults.edits import Attribute, InsertNode, RemoveNode, ReplaceOp, Rewire, Tensor
from deltann_converter.repair.operators.base import Operator, Proposal
from deltann_converter.repair.operators.hyperparameters import attributes
from deltann_converter.repair.site import Site, SourceNode

_ALIKE: tuple[tuple[str, ...], ...] = (
    ("Relu", "LeakyRelu", "Elu", "Selu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Softplus", "Softsign", "Erf"),
    ("MaxPool", "AveragePool"),
    ("GlobalMaxPool", "GlobalAveragePool"),
    ("ReduceMean", "ReduceMax", "ReduceSum", "ReduceMin"),
    ("Add", "Mul", "Sub", "Div", "Max", "Min"),
    ("Softmax", "LogSoftmax"),
)
"""Operators that can stand for each other."""
_ORDERS = 24


def propose(site: Site) -> Iterator[Proposal]:
    """Too many, replaced, inputs, wires, missing, order: what is there is used before something is made."""
    yield from _removed(site)
    yield from _replaced(site)
    yield from _ordered(site)
    yield from _rewired(site)
    yield from _inserted(site)
    yield from _swapped(site)


def _removed(site: Site) -> Iterator[Proposal]:
    for node in site.nodes:
        for slot, name in enumerate(node.input):
            if name in site.feeds or any(name in other.output for other in site.nodes):
                edit = RemoveNode(node=node.output[0], slot=slot)
                said = f"Without it, {name} leads to what the source has: the source has no such {node.op_type}."
                yield Proposal(node.output[0], "node too many", said, (edit,))


def _replaced(site: Site) -> Iterator[Proposal]:
    for node in site.nodes:
        tensors = len(_moving(site, node))
        for other in site.source:
            if other.proto is not None and other.proto.op_type != node.op_type and len(other.node.inputs) == tensors:
                yield _replacement(
                    node, other.proto.op_type, attributes(other.proto), _after(other), f" as in {other.node.name}"
                )
        for group in _ALIKE:
            if node.op_type in group:
                for kind in group:
                    if kind != node.op_type:
                        yield _replacement(node, kind, _kept(node, kind), (), "")


def _replacement(
    node: Any, kind: str, values: dict[str, Attribute], constants: tuple[Tensor, ...], where: str
) -> Proposal:
    edit = ReplaceOp(node=node.output[0], op_type=kind, attributes=values, constants=constants)
    said = f"It is {node.op_type} where {kind} gives what the source has{where}."
    return Proposal(node.output[0], f"operator {node.op_type} instead of {kind}", said, (edit,))


def _kept(node: Any, kind: str) -> dict[str, Attribute]:
    """The node's attributes that another operator has too."""
    from onnx import defs

    known = defs.get_schema(kind).attributes
    return {name: value for name, value in attributes(node).items() if name in known}


def _inserted(site: Site) -> Iterator[Proposal]:
    """What the source has more of, before a node of the site or behind its output."""
    have = Counter(node.op_type for node in site.nodes)
    missing = []
    for other in site.source:
        if other.proto is None or len(other.node.inputs) != 1:
            continue
        if have[other.proto.op_type] > 0:
            have[other.proto.op_type] -= 1
        else:
            missing.append(other)
    for other in missing or [one for one in site.source if one.proto is not None and len(one.node.inputs) == 1]:
        for node in site.nodes:
            for slot, name in enumerate(node.input):
                if name in _moving(site, node):
                    yield _insertion(other, name, f"{node.output[0]}_{slot}_inserted", node.output[0], node.output[0])
        yield _insertion(other, site.output, f"{site.output}_inserted", None, site.output)


def _insertion(other: SourceNode, value: str, output: str, reader: str | None, about: str) -> Proposal:
    kind = other.proto.op_type
    edit = InsertNode(
        value=value,
        output=output,
        op_type=kind,
        attributes=attributes(other.proto),
        constants=_after(other),
        reader=reader,
        first=bool(other.parameters) and other.proto.input[0] in other.parameters,
    )
    where = f"behind {value}" if reader is None else f"between {value} and it"
    said = f"The source's {other.node.name} ({kind}) is missing {where}."
    return Proposal(about, f"node missing: {kind}", said, (edit,))


def _after(other: SourceNode) -> tuple[Tensor, ...]:
    return tuple(Tensor.of(other.parameters[name]) for name in other.proto.input if name in other.parameters)


def _swapped(site: Site) -> Iterator[Proposal]:
    """Two nodes in a row, the other way round: the first is taken out and put behind the second."""
    held = {(node.output[0], slot): values for node, slot, values in site.constants()}
    for first in site.nodes:
        for second in site.nodes:
            one, two = first.output[0], second.output[0]
            if one not in second.input or len(_moving(site, first)) != 1:
                continue
            constants = tuple(Tensor.of(values) for (name, _), values in held.items() if name == one)
            behind = InsertNode(
                value=two,
                output=f"{two}_swapped",
                op_type=first.op_type,
                attributes=attributes(first),
                constants=constants,
            )
            slot = next(place for place, name in enumerate(first.input) if name in _moving(site, first))
            said = f"The source has {first.op_type} behind {second.op_type}, not before it."
            yield Proposal(one, "order swapped", said, (RemoveNode(node=one, slot=slot), behind))


def _ordered(site: Site) -> Iterator[Proposal]:
    for node in site.nodes:
        inputs = list(node.input)
        if len(_moving(site, node)) < 2:
            continue
        for order in list(permutations(inputs))[1:_ORDERS]:
            edits = tuple(
                Rewire(node=node.output[0], slot=slot, value=name)
                for slot, name in enumerate(order)
                if name != inputs[slot]
            )
            said = f"It reads {', '.join(inputs)} where the source reads them as {', '.join(order)}."
            yield Proposal(node.output[0], "inputs in another order", said, edits)


def _rewired(site: Site) -> Iterator[Proposal]:
    for node in site.nodes:
        for slot, name in enumerate(node.input):
            if name not in site.feeds:
                continue
            for other in (*site.others, *site.feeds):
                if other != name:
                    said = f"It reads {name} where the source reads what {other} is."
                    edit = Rewire(node=node.output[0], slot=slot, value=other)
                    yield Proposal(node.output[0], "wired to another value", said, (edit,))


def _moving(site: Site, node: Any) -> list[str]:
    """What a node reads that is no constant."""
    made = {name for other in site.nodes for name in other.output} | set(site.feeds)
    return [name for name in node.input if name in made]


OPERATOR = Operator("graph", "graph", propose)
