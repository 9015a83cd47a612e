"""Models as graphs whose nodes can be run one at a time: what debug execution and fault localisation stand on.

One module per format, each with ``open_graph(path, info) -> Graph``. Values stay what the framework computes with
(tensors, and for PyTorch also lists and numbers) until somebody asks for an array.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from deltann.layers.graph import Node
from deltann.model import Format, ModelInfo

_MODULES: dict[Format, str] = {
    "onnx": "onnx",
    "tflite": "tflite",
    "pt2": "torch_export",
    "torchscript": "torchscript",
    "keras": "keras",
    "keras_recipe": "keras",
    "savedmodel": "tensorflow",
}


class Graph(ABC):
    """A model, node by node. ``nodes`` are in an order in which they can run; ``feed`` and ``result`` name values."""

    nodes: tuple[Node, ...]
    feed: str
    result: str

    @abstractmethod
    def ready(self, node: Node, values: Sequence[Any]) -> Callable[[], Sequence[Any]]:
        """One node with the values of its ``inputs``: a call of what is returned computes those of its ``outputs``.

        What it takes to load the node belongs to ``ready``, so that the call alone can be timed.

        Raises:
            Exception: whatever the framework raises, also from the call.
        """

    def run(self, node: Node, values: Sequence[Any]) -> Sequence[Any]:
        """One node: the values of its ``inputs`` in, those of its ``outputs`` out, in order."""
        return self.ready(node, values)()

    @abstractmethod
    def parameters(self, node: Node) -> Mapping[str, np.ndarray]:
        """Constant tensors that a node reads, in its own order and layout, dequantised."""

    @abstractmethod
    def wrap(self, name: str, array: np.ndarray) -> Any:
        """An array as the value of that name, as nodes read it: quantised where that is and the array is not."""

    @abstractmethod
    def unwrap(self, name: str, value: Any) -> np.ndarray | None:
        """The array of a value, dequantised; None where it is no tensor (a list, a number, a handle)."""


def open_graph(path: Path, info: ModelInfo) -> Graph:
    """The graph of a model file.

    Raises:
        Exception: whatever the framework raises for a file that it cannot read.
    """
    graph: Graph = import_module(f"{__name__}.{_MODULES[info.format]}").open_graph(path, info)
    return graph
