"""Parameters of a convolution or product into which the source's batch norm was folded.

What is folded scales and shifts each output channel. Both are told by the place itself: with the source's weights and
no bias, a line through what a channel gives and what it should give has the scale as its slope.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deltann.faults.edits import SetInitializer, Tensor
from deltann.faults.parameters import ParameterFault, name_fault
from deltann_converter.repair.operators.base import Operator, Proposal
from deltann_converter.repair.operators.hyperparameters import attributes
from deltann_converter.repair.operators.weights import candidates
from deltann_converter.repair.site import Site


def propose(site: Site) -> Iterator[Proposal]:
    """Where the source has more nodes: each of its tensors as weights of the node that writes the output."""
    if len(site.source) <= len(site.nodes):
        return
    for node, slot, own in site.constants():
        if node.op_type in ("Conv", "Gemm") and slot == 1 and node.output[0] == site.output and own.ndim > 1:
            for name, right in candidates(site, own):
                made = _fold(site, node, right.astype(own.dtype))
                if made is not None:
                    yield _proposal(node, own, name, *made)


def _fold(site: Site, node: Any, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Weights and bias with what was folded into them; None where the place cannot be run with them."""
    transposed = node.op_type == "Gemm" and not attributes(node).get("transB", 0)
    out = weights.shape[1] if transposed else weights.shape[0]
    plain = (_set(node, 1, weights), _set(node, 2, np.zeros(out, weights.dtype)))
    try:
        found = site.run(plain)
    except Exception:  # whatever ONNX Runtime says of weights that do not fit
        return None
    if found.shape != site.right.shape:
        return None
    have, want = (np.moveaxis(one, 1, 0).reshape(out, -1).astype(np.float64) for one in (found, site.right))
    middle, goal = have.mean(1, keepdims=True), want.mean(1, keepdims=True)
    power = np.square(have - middle).sum(1)
    scale = np.where(power > 0, ((have - middle) * (want - goal)).sum(1) / np.where(power > 0, power, 1), 1)
    shift = goal[:, 0] - scale * middle[:, 0]
    along = (1, out) if transposed else (out, *(1,) * (weights.ndim - 1))
    return (weights * scale.reshape(along)).astype(weights.dtype), shift.astype(weights.dtype)


def _set(node: Any, slot: int, values: np.ndarray) -> SetInitializer:
    return SetInitializer(node=node.output[0], slot=slot, values=Tensor.of(values))


def _proposal(node: Any, own: np.ndarray, name: str, weights: np.ndarray, bias: np.ndarray) -> Proposal:
    fault = name_fault(weights, own) or ParameterFault.LAYOUT
    said = f"Its weights and bias are not {name} of the source with each channel scaled and shifted."
    return Proposal(node.output[0], f"folded weights: {fault}", said, (_set(node, 1, weights), _set(node, 2, bias)))


OPERATOR = Operator("folded", "parameters", propose)
