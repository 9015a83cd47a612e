"""Layout and shape: integers that say sides, axes, pads or orders, and transposes before what depends on the order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np

from deltann.faults.edits import InsertNode, SetInitializer, Tensor
from deltann_converter.repair.operators.base import Operator, Proposal
from deltann_converter.repair.site import Site

_NAMES: dict[str, tuple[str, ...]] = {
    "Reshape": ("input", "shape"),
    "Pad": ("input", "pads", "value", "axes"),
    "Clip": ("input", "min", "max"),
    "Slice": ("input", "starts", "ends", "axes", "steps"),
    "Resize": ("input", "region", "scales", "sizes"),
}
_MOST_AXES = 4


def name_of(node: Any, slot: int) -> str:
    """What a constant input of an operator says."""
    names = _NAMES.get(node.op_type, ())
    return names[slot] if slot < len(names) else "constant"


def says(node: Any, own: np.ndarray) -> bool:
    """Whether a constant is a hyperparameter rather than a parameter."""
    return node.op_type in _NAMES or np.issubdtype(own.dtype, np.integer)


def propose(site: Site) -> Iterator[Proposal]:
    """The source's constants of that meaning, then a transpose of what a node reads."""
    for node, slot, own in site.constants():
        if not says(node, own):
            continue
        for other in site.source:
            for values in other.parameters.values():
                if values.dtype == own.dtype and not np.array_equal(values, own):
                    what = name_of(node, slot)
                    yield Proposal(
                        node=node.output[0],
                        kind=f"{what}: other values",
                        evidence=f"Its {what} is {own.tolist()}, and {values.tolist()} in {other.node.name}.",
                        edits=(SetInitializer(node=node.output[0], slot=slot, values=Tensor.of(values)),),
                    )
    yield from _transposed(site)


def _transposed(site: Site) -> Iterator[Proposal]:
    shapes = {name: value.ndim for name, value in site.feeds.items()}
    for node in site.nodes:
        for slot, name in enumerate(node.input):
            for perm in permutations(range(shapes.get(name, 0))):
                if 2 <= len(perm) <= _MOST_AXES and list(perm) != sorted(perm):
                    yield Proposal(
                        node=node.output[0],
                        kind="input transposed",
                        evidence=f"It reads {name} in another order of its axes than the source: {list(perm)}.",
                        edits=(
                            InsertNode(
                                value=name,
                                output=f"{node.output[0]}_{slot}_transposed",
                                op_type="Transpose",
                                attributes={"perm": list(perm)},
                                reader=node.output[0],
                            ),
                        ),
                    )


OPERATOR = Operator("shapes", "layout", propose)
