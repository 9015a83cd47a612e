"""Every value of a model on one input, on disk: what another model is held against, layer by layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deltann.layers.graph import Node
from deltann.layers.signature import Signature, signature
from deltann_engines.graphs import Graph
from deltann_engines.trace import Layer, trace


class Recording:
    """Values of a graph by name, read when they are asked for; signatures in order of execution, the input first."""

    def __init__(self, graph: Graph, x: np.ndarray, folder: Path) -> None:
        """Run the graph and write every value into ``folder``, which is made.

        Raises:
            Exception: whatever the framework raises.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.nodes: tuple[Node, ...] = graph.nodes
        self.feed, self.result = graph.feed, graph.result
        self.signatures: dict[str, Signature] = {}
        self._folder = folder
        self._files: dict[str, int] = {}
        self._keep(graph.feed, x)
        trace(graph, x, self._take)

    def _take(self, layer: Layer) -> None:
        self._keep(layer.output, layer.values)

    def _keep(self, name: str, values: np.ndarray) -> None:
        self._files[name] = len(self._files)
        self.signatures[name] = signature(values)
        np.save(self._folder / f"{self._files[name]}.npy", values)

    def value(self, name: str) -> np.ndarray:
        """The value of that name, mapped from its file."""
        array: np.ndarray = np.load(self._folder / f"{self._files[name]}.npy", mmap_mode="r")
        return array
