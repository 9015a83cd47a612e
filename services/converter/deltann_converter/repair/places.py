"""Which part of a target a fault is looked for in, and which part of the source stands in that place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from deltann_engines.divergence import Fault
from deltann_engines.graphs import Graph
from deltann_engines.graphs.onnx import OnnxGraph

from deltann.layers.graph import behind
from deltann_converter.repair.site import Site, SourceNode, cut

_MOVES = ("Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity")
"""Operators that keep all values: what they write is known whether they move them rightly or not."""


@dataclass(frozen=True)
class Places:
    """A target whose values are known.

    Args:
        source: the model as it should be.
        target: ``onnx.ModelProto``.
        right: values of the target as they should be, in its layout.
        names: the source's names of them.
    """

    source: Graph
    target: Any
    right: Mapping[str, np.ndarray]
    names: Mapping[str, str]

    def site(self, fault: Fault, wider: int = 0) -> Site | None:
        """What lies between known values and a fault's output.

        Args:
            fault: of the target.
            wider: by how many nodes further back it begins: what a node before was fed may be known in a wrong layout.

        Returns:
            None where the output is not known, or something before it.
        """
        if fault.output not in self.right:
            return None
        passed = {name for node in self.target.graph.node if node.op_type in _MOVES for name in node.output}
        passed.add(fault.output)
        for _ in range(wider + 1):
            feeds = {name: value for name, value in self.right.items() if name not in passed}
            try:
                model = cut(self.target, feeds, fault.output)
            except KeyError:
                return None
            read = {one.name for one in model.graph.input}
            passed |= read - {one.name for one in self.target.graph.input}
        site = Site(model, {name: feeds[name] for name in read}, fault.output, self.right[fault.output])
        site = replace(site, source=self._between(site, str(fault.source)), others=self._others(site))
        known = {self.names[name]: name for name in (*site.others, *site.feeds, site.output) if name in self.names}
        return replace(site, known=known)

    def _between(self, site: Site, value: str) -> list[SourceNode]:
        """The source's nodes that lead from what the site is fed to this value."""
        before = {self.names[name] for name in site.feeds if name in self.names} - {value}
        passed, wanted = behind(self.source.nodes, before), behind(self.source.nodes, [value])
        protos = self.source.protos if isinstance(self.source, OnnxGraph) else {}
        return [
            SourceNode(node, self.source.parameters(node), protos.get(node.name))
            for node in self.source.nodes
            if node.name in wanted and node.name not in passed
        ]

    def _others(self, site: Site) -> dict[str, np.ndarray]:
        """Known values that the site could read: computed before its output, and of the shape of one that it reads."""
        shapes = {value.shape for value in site.feeds.values()}
        made = [name for node in self.target.graph.node for name in node.output]
        inner = {name for node in site.model.graph.node for name in node.output}
        earlier = set(made[: made.index(site.output)]) - inner - set(site.feeds)
        return {name: value for name, value in self.right.items() if name in earlier and value.shape in shapes}
