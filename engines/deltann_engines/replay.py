"""A model held against another, node by node, each on the inputs that the other says are right.

Where source and target disagree, most of the target's layers are wrong only because they are fed what a layer before
them got wrong. So each node of the target is run on the source's values of its inputs, in the target's layout: its
error is then its own. Values are found by what they hold (:mod:`deltann.layers.signature`), not by names or order, so
that fusion, folding and other layouts do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltann.layers.graph import Node
from deltann.layers.layout import layouts, nearest_layout, relative_error
from deltann.layers.signature import Signature, distance, signature
from deltann_engines.graphs import Graph
from deltann_engines.recording import Recording

ALIKE = 0.05
"""Signatures up to this apart are of the same value, however wrong; other activations are further."""
_FAR, _NEAR = 0.25, 0.01
"""Root mean square of the difference, relative to the value's own, from which on two tensors are not of one value: of a
node that was fed right, and of one that was fed what could not be recognised and hands an error on."""


@dataclass(frozen=True)
class Held:
    """One output of the target against the source.

    Args:
        node: of the target.
        output: name of the target's value.
        shape: of that.
        source: the source's value that it is, or None where the source has none: a part of a node that was split up, or
            something so wrong that it is like nothing.
        error: largest difference relative to the root mean square of the source's value, the node being fed right;
            None where there is nothing to compare, infinite where the two have other sides.
        failed: what the framework said, where the node could not be run.
        signature: of what the target wrote, where it is no value of the source.
    """

    node: str
    output: str
    shape: tuple[int, ...] = ()
    source: str | None = None
    error: float | None = None
    failed: str | None = None
    signature: Signature | None = None


@dataclass(frozen=True)
class Taken:
    """A value of the source in place of one that cannot be recognised, in the n-th of the layouts that fit it.

    Where none fits, since its sides are wrong too, the n-th of :func:`usual_layouts`.
    """

    source: str
    layout: int = 0


Choice = Taken | None
"""What is to be made of an output: taken for a value of the source, or left as it is although it is like one."""


class Replay:
    """A target that runs node by node, every value that is one of the source's replaced by that.

    What is found is in ``held``, one entry for each output of each node that ran or failed, in order of execution. What
    cannot run for want of an input that failed is left out.
    """

    def __init__(self, source: Recording, target: Graph, x: np.ndarray) -> None:
        """Before the first node.

        Args:
            source: the values of the source on the same input.
            target: the graph under test.
            x: that input as the target takes it.
        """
        self.held: list[Held] = []
        self._source, self._target = source, target
        self._known, self._next = {target.feed}, 0
        self._values: dict[str, Any] = {target.feed: target.wrap(target.feed, x)}
        self._last = {name: index for index, node in enumerate(target.nodes) for name in node.inputs}

    def fork(self) -> Replay:
        """One that goes on from here by itself; values are shared, and nobody changes them."""
        other = copy(self)
        other.held, other._known, other._values = list(self.held), set(self._known), dict(self._values)
        return other

    def advance(
        self,
        until: int | None = None,
        forced: Mapping[str, Choice] | None = None,
        keep: Callable[[str, np.ndarray], None] | None = None,
    ) -> list[Held]:
        """Run on, to before the node at ``until`` or to the end; ``held``.

        Args:
            until: index of a node.
            forced: what is made of values of the target, by their names.
            keep: is given every value that is known, as it should be, in the target's layout.
        """
        nodes = self._target.nodes
        for index in range(self._next, len(nodes) if until is None else min(until, len(nodes))):
            if all(name in self._values for name in nodes[index].inputs):
                self._run(index, forced or {}, keep)
            self._next = index + 1
        return self.held

    def _run(self, index: int, forced: Mapping[str, Choice], keep: Callable[[str, np.ndarray], None] | None) -> None:
        node, target, values = self._target.nodes[index], self._target, self._values
        try:
            outputs = target.run(node, [values[name] for name in node.inputs])
        except Exception as error:
            self._failed(node, error, forced.get(node.outputs[0]), keep)
            return
        for name, value in zip(node.outputs, outputs, strict=True):
            array = None if value is None else target.unwrap(name, value)
            far = _FAR if self._known.issuperset(node.inputs) else _NEAR
            if name in forced and forced[name] is None:
                right, held = None, Held(node.name, name, () if array is None else array.shape)
            else:
                right, held = _hold(self._source, node.name, name, array, forced.get(name), far)
            if held is not None:
                self.held.append(held)
            if right is not None:
                value = target.wrap(name, right)
                self._known.add(name)
                if keep is not None:
                    keep(name, right)
            if value is not None and self._last.get(name, -1) > index:
                values[name] = value
        for name in node.inputs:
            if self._last[name] == index:
                values.pop(name, None)

    def _failed(
        self, node: Node, error: Exception, taken: Taken | None, keep: Callable[[str, np.ndarray], None] | None
    ) -> None:
        output, said = node.outputs[0], f"{type(error).__name__}: {error}"[:500]
        self.held.append(Held(node.name, output, source=taken and taken.source, failed=said))
        if taken is not None:
            right = _instead(self._source, taken)
            self._values[output] = self._target.wrap(output, right)
            self._known.add(output)
            if keep is not None:
                keep(output, right)


def replay(
    source: Recording,
    target: Graph,
    x: np.ndarray,
    forced: Mapping[str, Choice] | None = None,
    keep: Callable[[str, np.ndarray], None] | None = None,
) -> list[Held]:
    """A whole :class:`Replay`."""
    return Replay(source, target, x).advance(None, forced, keep)


def _hold(
    source: Recording, node: str, output: str, array: np.ndarray | None, forced: Taken | None, far: float
) -> tuple[np.ndarray | None, Held | None]:
    """The right value in place of an output, and what is to be said of it."""
    if array is None:
        return None, None
    if forced is not None:
        fitting = list(layouts(source.value(forced.source), array.shape))
        if forced.layout >= len(fitting):
            right = _instead(source, forced)
            return _as(right, array), Held(node, output, array.shape, forced.source, float("inf"))
        right = fitting[forced.layout]
        return _as(right, array), Held(node, output, array.shape, forced.source, relative_error(right, array))
    own = signature(array)
    far_of = {name: distance(other, own) for name, other in source.signatures.items()}
    for name in sorted((name for name in far_of if far_of[name] <= ALIKE), key=far_of.__getitem__):
        nearest = nearest_layout(source.value(name), array)
        if nearest is not None and _apart(nearest[0], array) <= far:
            return _as(nearest[0], array), Held(node, output, array.shape, name, nearest[1])
    return None, Held(node, output, array.shape, signature=own)


def usual_layouts(values: np.ndarray) -> list[np.ndarray]:
    """What a value may be in a model of another framework, where its sides cannot tell: channels first and last."""
    if values.ndim < 3:
        return [values]
    return [values, np.moveaxis(values, -1, 1), np.moveaxis(values, 1, -1)]


def _instead(source: Recording, taken: Taken) -> np.ndarray:
    """A value in place of one that has other sides, or that could not be computed."""
    return np.ascontiguousarray(usual_layouts(source.value(taken.source))[taken.layout])


def _as(right: np.ndarray, array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(right, dtype=array.dtype)


def _apart(right: np.ndarray, array: np.ndarray) -> float:
    """Root mean square of the difference, relative to that of the right value."""
    scale = float(np.sqrt(np.mean(np.square(right, dtype=np.float64)))) or 1.0
    return float(np.sqrt(np.mean(np.square(np.asarray(right, np.float64) - array)))) / scale
