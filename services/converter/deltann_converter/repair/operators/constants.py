"""Hyperparameters that are inputs: sides, axes, pads, bounds; the source's constant in place of the target's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deltann.faults.edits import SetInitializer, Tensor
from deltann_converter.repair.operators.base import Operator, Proposal
from deltann_converter.repair.site import Site

_FILLED_BY = 2
"""Input of a Pad."""
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


def propose_usual(site: Site) -> Iterator[Proposal]:
    """What a Pad is filled with: nothing, or what no maximum can be; for a source that pads within its own operator."""
    held = {(node.output[0], slot): own for node, slot, own in site.constants()}
    for node in site.nodes:
        if node.op_type != "Pad" or any(one.name == "value" for one in node.attribute):
            continue
        own = held.get((node.output[0], _FILLED_BY))
        filled = 0.0 if own is None else float(own.reshape(-1)[0])
        for value in (float(np.finfo(np.float32).min), 0.0):
            if value != filled:
                yield Proposal(
                    node=node.output[0],
                    kind="value: other values",
                    evidence=f"It pads with {filled:g}; {value:g} gives what the source has.",
                    edits=(
                        SetInitializer(
                            node=node.output[0], slot=_FILLED_BY, values=Tensor.of(np.array(value, np.float32))
                        ),
                    ),
                )


OPERATOR = Operator("constants", "hyperparameters", propose)
USUAL = Operator("usual constants", "hyperparameters", propose_usual)
