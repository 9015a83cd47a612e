"""Hyperparameters, attribute by attribute: what the source's node has, and what is usual."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

from deltann.faults.edits import Attribute, SetAttribute
from deltann_converter.repair.operators.base import Operator, Proposal
from deltann_converter.repair.site import Site

_NUMBERS: dict[str, tuple[Attribute, ...]] = {
    "epsilon": (1e-3, 1e-5, 1e-6, 1e-7, 1e-12, 1.001e-5, 2e-5, 1e-4, 1e-2),
    "alpha": (0.01, 0.1, 0.2, 0.3, 1.0, 0.5, 1.67326, 1e-4, 2.0),
    "beta": (1.0, 0.0, 0.75, 0.5),
    "gamma": (1.0507,),
    "ceil_mode": (0, 1),
    "count_include_pad": (0, 1),
    "keepdims": (0, 1),
    "transA": (0, 1),
    "transB": (0, 1),
    "axis": (1, -1, 2, 3, 0),
    "mode": ("constant", "reflect", "edge", "nearest", "linear", "cubic", "DCR", "CRD"),
    "coordinate_transformation_mode": (
        "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize",
    ),
    "nearest_mode": ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
    "auto_pad": ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"),
}  # fmt: skip
"""Values that frameworks have as defaults."""
_MOST_AXES = 4


def propose(site: Site) -> Iterator[Proposal]:
    """The source's attributes one at a time, then all of a node's."""
    for node in site.nodes:
        for other in site.source:
            if other.proto is not None and other.proto.op_type == node.op_type:
                yield from _from_source(node, other.proto)


def propose_usual(site: Site) -> Iterator[Proposal]:
    """What frameworks have as defaults, one at a time: for a source that does not tell, or not in ONNX's words."""
    for node in site.nodes:
        own = attributes(node)
        for name in schema(node):
            for value in _usual(node, name, own):
                if value != own.get(name):
                    yield _proposal(node, {name: value}, f"{name} is {own.get(name)}; {value} is usual.")


def _from_source(node: Any, other: Any) -> Iterator[Proposal]:
    own, right = attributes(node), attributes(other)
    differing = {name: right.get(name) for name in {**own, **right} if own.get(name) != right.get(name)}
    for name, value in differing.items():
        said = f"Its {name} is {own.get(name, 'not set')}, and {right.get(name, 'not set')} in {other.name}."
        yield _proposal(node, {name: value}, said)
    if len(differing) > 1:
        said = f"Its {', '.join(differing)} are others than those of {other.name}."
        yield _proposal(node, differing, said)


def _proposal(node: Any, values: dict[str, Attribute | None], evidence: str) -> Proposal:
    output = node.output[0]
    edits = tuple(SetAttribute(node=output, name=name, value=value) for name, value in values.items())
    return Proposal(output, f"attribute {' and '.join(values)}", evidence, edits)


def _usual(node: Any, name: str, own: dict[str, Any]) -> Iterator[Attribute | None]:
    if name in _NUMBERS:
        yield from _NUMBERS[name]
    sides = len(own.get("kernel_shape", own.get("pads", (0, 0) * 2)[: len(own.get("pads", (0,) * 4)) // 2]))
    if name in ("strides", "dilations"):
        yield from ([value] * sides for value in (1, 2, 3, 4))
    elif name == "pads" and node.op_type in ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool"):
        for before, after in ((0, 0), (1, 1), (0, 1), (1, 0), (2, 2), (1, 2), (2, 1), (3, 3), (2, 3), (3, 2)):
            yield [before] * sides + [after] * sides
    elif name == "perm" and len(own.get("perm", ())) <= _MOST_AXES:
        yield from map(list, list(permutations(range(len(own.get("perm", ())))))[1:])  # the first moves nothing


def schema(node: Any) -> dict[str, Any]:
    """The attributes that an operator may have; none for one that ONNX does not know."""
    from onnx import defs

    try:
        return dict(defs.get_schema(node.op_type, domain=node.domain).attributes)
    except defs.SchemaError:
        return {}


def attributes(node: Any) -> dict[str, Any]:
    """A node's attributes as plain values; graphs and tensors are left out."""
    from onnx import AttributeProto, helper

    found = {}
    for one in node.attribute:
        if one.type in (AttributeProto.INT, AttributeProto.FLOAT, AttributeProto.INTS, AttributeProto.FLOATS):
            value = helper.get_attribute_value(one)
            found[one.name] = list(value) if one.type in (AttributeProto.INTS, AttributeProto.FLOATS) else value
        elif one.type == AttributeProto.STRING:
            found[one.name] = one.s.decode()
    return found


OPERATOR = Operator("hyperparameters", "hyperparameters", propose)
USUAL = Operator("usual hyperparameters", "hyperparameters", propose_usual)
