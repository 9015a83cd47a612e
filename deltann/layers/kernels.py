"""The debug map of a compiled module: which nodes of the model each of its kernels computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deltann.layers.graph import Node, behind
from deltann.layers.match import Match


@dataclass(frozen=True)
class KernelNodes:
    """A kernel and the nodes whose work ends with it.

    Args:
        kernel: name of the call.
        value: the model's value that its output is; None where it is none of them (a padded copy, a part).
        nodes: names of the nodes, in the model's order. A kernel without a value has none: the next that depends on it
            and has a value finishes its work.
        towards: that next kernel; itself where it has a value.
    """

    kernel: str
    value: str | None
    nodes: tuple[str, ...]
    towards: str | None


@dataclass(frozen=True)
class KernelMap:
    """Every kernel of a module, and the nodes that are left: folded away, since no output depends on them."""

    kernels: tuple[KernelNodes, ...]
    folded: tuple[str, ...]


def kernel_map(model: Sequence[Node], kernels: Sequence[Node], matches: Mapping[str, Match]) -> KernelMap:
    """Lead every kernel back to the model's nodes.

    Each node is in exactly one kernel, the first in order of execution whose output depends on it, or it is folded.

    Args:
        model: the nodes of the model, in an order in which they can run.
        kernels: the calls of the module, in order of execution.
        matches: for outputs of kernels, the model's value that each is.
    """
    taken: set[str] = set()
    found: list[KernelNodes] = []
    for kernel in kernels:
        (output,) = kernel.outputs
        match = matches.get(output)
        if match is None:
            found.append(KernelNodes(kernel.name, None, (), _towards(kernel, kernels, matches)))
            continue
        own = behind(model, [match.source]) - taken
        taken |= own
        nodes = tuple(node.name for node in model if node.name in own)
        found.append(KernelNodes(kernel.name, match.source, nodes, kernel.name))
    return KernelMap(tuple(found), tuple(node.name for node in model if node.name not in taken))


def _towards(start: Node, kernels: Sequence[Node], matches: Mapping[str, Match]) -> str | None:
    """The first kernel with a value that depends on this one."""
    reached = set(start.outputs)
    for kernel in kernels[list(kernels).index(start) + 1 :]:
        if reached.intersection(kernel.inputs):
            if kernel.outputs[0] in matches:
                return kernel.name
            reached.update(kernel.outputs)
    return None
