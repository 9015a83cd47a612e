"""Parameters: the source's tensor in place of the target's, in every layout that fits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from deltann.faults.edits import SetInitializer, Tensor
from deltann.faults.parameters import SAME, ParameterFault, name_fault
from deltann.layers.layout import layouts, relative_error
from deltann_converter.repair.operators import constants
from deltann_converter.repair.operators.base import Operator, Proposal
from deltann_converter.repair.site import Site

_LINEAR = ("input", "weights", "bias")
_SLOTS: dict[str, tuple[str, ...]] = {
    "Conv": _LINEAR,
    "ConvTranspose": _LINEAR,
    "Gemm": _LINEAR,
    "BatchNormalization": ("input", "scale", "shift", "mean", "variance"),
}
_ORDERS = 24


def name_of(node: Any, slot: int) -> str:
    """What a parameter of an operator is called."""
    slots = _SLOTS.get(node.op_type, ())
    return slots[slot] if slot < len(slots) else "constant"


def propose(site: Site) -> Iterator[Proposal]:
    """One parameter at a time, the nearest of the source's first; then all that differ; then other layouts."""
    first: list[Proposal] = []
    other: list[Proposal] = []  # of what holds the right values, in a layout that may be a wrong one
    for node, slot, own in site.constants():
        if constants.says(node, own):
            continue
        found = list(candidates(site, own))
        if any(relative_error(right, own) <= SAME for _, right in found):
            other += [_proposal(node, slot, own, name, right) for name, right in found]
            continue
        proposals = [_proposal(node, slot, own, name, right) for name, right in found]
        first += proposals[:1]
        yield from proposals
    if len(first) > 1:
        kind = " and ".join(dict.fromkeys(one.kind for one in first))
        edits = tuple(edit for one in first for edit in one.edits)
        yield Proposal(first[0].node, kind, " ".join(one.evidence for one in first), edits)
    yield from other


def candidates(site: Site, own: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The source's tensors in this shape, the nearest first; of what is alike, one."""
    found: list[tuple[float, int, str, np.ndarray]] = []
    for one in site.source:
        for name, values in one.parameters.items():
            for right in islice(layouts(values, own.shape), _ORDERS):
                if not any(np.array_equal(right, other) for *_, other in found):
                    found.append((relative_error(right, own), len(found), name, right))
    yield from ((name, right) for *_, name, right in sorted(found, key=lambda one: one[:2]))


def _proposal(node: Any, slot: int, own: np.ndarray, name: str, right: np.ndarray) -> Proposal:
    fault = name_fault(right, own) or ParameterFault.LAYOUT
    what = name_of(node, slot)
    far = relative_error(right, own)
    return Proposal(
        node=node.output[0],
        kind=f"{what}: {fault}",
        evidence=f"Its {what} ({node.input[slot]}) differ by {far:.2g} from {name} of the source: {fault}.",
        edits=(SetInitializer(node=node.output[0], slot=slot, values=Tensor.of(right.astype(own.dtype))),),
    )


OPERATOR = Operator("weights", "parameters", propose)
