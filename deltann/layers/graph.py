"""The structure of a traced model: nodes, the values they read and write, and what lies behind a value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """One operator, layer or kernel.

    Args:
        name: unique within the graph, as the model's author sees it.
        kind: the operator in the format's own terms (``Conv``, ``CONV_2D``, ``aten.conv2d``, ``Conv2D``).
        inputs: names of the values it reads, each once; parameters and constants are its own and not among them.
        outputs: names of the values it writes; an empty name is an output that nobody reads.
    """

    name: str
    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def behind(nodes: Sequence[Node], values: Iterable[str]) -> set[str]:
    """Names of all nodes that these values depend on, those that write them included.

    Args:
        nodes: in an order in which they can run.
        values: names of values.
    """
    wanted, found = set(values), set[str]()
    for node in reversed(nodes):
        if wanted.intersection(node.outputs):
            found.add(node.name)
            wanted.update(node.inputs)
    return found
