"""What the target is fed against what it should be fed: order of channels, scale, mean, and nodes that undo it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from deltann_engines.graphs.onnx import OnnxGraph
from deltann_engines.trace import trace

from deltann.faults.edits import Edit, InsertNode, Tensor
from deltann.faults.suspect import Suspect
from deltann.layers.layout import relative_error

SAME = 1e-4
"""Errors of inputs up to this are rounding."""
_CHANNELS = (3, 4)


class _Ended(Exception):  # noqa: N818  (no error: enough was seen)
    pass


def is_fed_right(target: Any, y: np.ndarray, right: np.ndarray) -> bool:
    """Whether the input is as it should be, or the target makes it so by its first nodes."""
    if relative_error(right, y) <= SAME:
        return True
    graph = OnnxGraph(target)

    def look(layer: Any) -> None:
        if layer.values.shape == right.shape and relative_error(right, layer.values) <= SAME:
            raise _Ended

    try:
        trace(graph, y, look)
    except _Ended:
        return True
    except Exception:  # a target that cannot be run does not correct anything
        return False
    return False


def explain(target: Any, y: np.ndarray, right: np.ndarray) -> Suspect:
    """The fault of a preprocessing, and nodes behind the input that put it right where there are any."""
    feed = OnnxGraph(target).feed
    error = relative_error(right, y)
    plain = Suspect(
        node=feed,
        op_type="input",
        output=feed,
        source=None,
        own_error=error if np.isfinite(error) else None,
        inherited_error=0.0,
        stage="preprocessing",
        kind="other pixels",
        evidence=(f"The target is fed {error:.2g} off from what the source is fed.",),
    )
    for kind, edits, made in _candidates(feed, y, right):
        after = relative_error(right, made)
        if after <= SAME:
            proof = f"With the {kind} put right the input is off by {after:.2g}."
            return plain.model_copy(update={"kind": kind, "edits": edits, "evidence": (*plain.evidence, proof)})
    return plain


def _candidates(feed: str, y: np.ndarray, right: np.ndarray) -> Iterator[tuple[str, tuple[Edit, ...], np.ndarray]]:
    """Kinds of fault with the edits that undo them and what these make of the input: each order, plain and scaled."""
    if y.dtype != right.dtype or not np.issubdtype(y.dtype, np.floating):
        return
    axes = [axis for axis in range(1, y.ndim) if y.shape[axis] in _CHANNELS]
    orders: list[tuple[str, tuple[Edit, ...], np.ndarray]] = [("", (), y)]
    for axis in axes:
        order = np.arange(y.shape[axis], dtype=np.int64)[::-1].copy()
        edit = InsertNode(
            value=feed, output=f"{feed}_channels", op_type="Gather", attributes={"axis": axis},
            constants=(Tensor.of(order),),
        )  # fmt: skip
        orders.append(("channel order", (edit,), np.take(y, order, axis)))
    for kind, edits, made in orders:
        if kind:
            yield kind, edits, made
    for along in (None, *axes):
        for kind, edits, made in orders:
            scaled = _scaled(edits[-1].output if edits else feed, feed, made, right, along)
            if scaled is not None:
                yield " and ".join(filter(None, (kind, scaled[0]))), (*edits, *scaled[1]), scaled[2]


def _scaled(
    value: str, feed: str, made: np.ndarray, right: np.ndarray, along: int | None
) -> tuple[str, tuple[Edit, ...], np.ndarray] | None:
    """The scale and offset that lead from one to the other, one for all or one for each channel."""
    axes = tuple(axis for axis in range(made.ndim) if axis != along)
    wide, wanted = made.astype(np.float64), right.astype(np.float64)
    mean, goal = wide.mean(axes, keepdims=True), wanted.mean(axes, keepdims=True)
    power = np.square(wide - mean).sum(axes, keepdims=True)
    if not power.all():
        return None
    scale = ((wide - mean) * (wanted - goal)).sum(axes, keepdims=True) / power
    offset = goal - scale * mean
    parts = [("scale", not np.allclose(scale, 1, atol=1e-5)), ("mean", not np.allclose(offset, 0, atol=1e-5))]
    kind = " and ".join(name for name, differs in parts if differs)
    a, b = scale.astype(made.dtype), offset.astype(made.dtype)
    edits = (
        InsertNode(value=value, output=f"{feed}_scaled", op_type="Mul", constants=(Tensor.of(a),)),
        InsertNode(value=f"{feed}_scaled", output=f"{feed}_shifted", op_type="Add", constants=(Tensor.of(b),)),
    )
    return (kind, edits, made * a + b) if kind else None
