"""Hyperparameters that are inputs: sides, axes, pads, bounds; the source's constant in place of the target's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deltann.faults.edits import SetInitializer, Tensor
from deltann_converter.repair.operators.base import Operator, Proposal
from deltann_converter.repair.site import Site

_NAMES: dict[str, tuple[str, ...]] = {
    "Reshape": ("input", "shape"),
    "Pad": ("input", "pads", "value", "axes"),
    "Clip": ("input", "min", "max"),
    "Slice": ("input", "starts", "ends", "axes", "steps"),
    "Resize": ("input", "region", "scales", "sizes"),
}


def name_of(node: Any, slot: int) -> str:
    """What a constant input of an operator says."""
    names = _NAMES.get(node.op_type, ())
    return names[slot] if slot < len(names) else "constant"


def says(node: Any, own: np.ndarray) -> bool:
    """Whether a constant is a hyperparameter rather than a parameter."""
    return node.op_type in _NAMES or np.issubdtype(own.dtype, np.integer)


def propose(site: Site) -> Iterator[Proposal]:
    """The constants of the source's nodes in the place of the site, those of the same operator first."""
    for node, slot, own in site.constants():
        if not says(node, own):
            continue
        for other in sorted(site.source, key=lambda one: one.node.kind != node.op_type):
            for values in other.parameters.values():
                if values.dtype == own.dtype and not np.array_equal(values, own):
                    what = name_of(node, slot)
                    yield Proposal(
                        node=node.output[0],
                        kind=f"{what}: other values",
                        evidence=f"Its {what} is {own.tolist()}, and {values.tolist()} in {other.node.name}.",
                        edits=(SetInitializer(node=node.output[0], slot=slot, values=Tensor.of(values)),),
                    )


OPERATOR = Operator("constants", "hyperparameters", propose)
