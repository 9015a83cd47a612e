"""The part of a target around one fault, by itself: what it is fed, what it should write, and how far off it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from deltann_engines.graphs.onnx import OnnxGraph, load_session, reads

from deltann.faults.edits import Edit, Rewire
from deltann.layers.graph import Node
from deltann.layers.layout import relative_error
from deltann_converter.repair.patch import apply_edits


@dataclass(frozen=True)
class SourceNode:
    """A node of the source between the values that the site is fed and the value that it should write.

    Args:
        node: itself.
        parameters: its constants by name.
        proto: the ``onnx.NodeProto``, where the source is ONNX.
    """

    node: Node
    parameters: Mapping[str, np.ndarray]
    proto: Any = None


@dataclass(frozen=True)
class Site:
    """A sub-graph of the target.

    Args:
        model: of the site alone, an ``onnx.ModelProto``; names are the target's.
        feeds: right values of its inputs, in the target's layout.
        output: the value that is wrong.
        right: what it should be.
        known: by the source's names of values that the site reads, could read or writes, its own.
        others: known values of the target before the site that it does not read, of the shape of one that it does.
        source: the source's nodes in that place, in order; none where they could not be told.
    """

    model: Any
    feeds: Mapping[str, np.ndarray]
    output: str
    right: np.ndarray
    source: Sequence[SourceNode] = ()
    others: Mapping[str, np.ndarray] = field(default_factory=dict)
    known: Mapping[str, str] = field(default_factory=dict)

    def error(self, edits: Sequence[Edit] = ()) -> float:
        """Own error with these edits, relative to the root mean square; infinite where it cannot be run."""
        try:
            found = self.run(edits)
        except Exception:  # whatever ONNX Runtime says of an edit that does not fit
            return float("inf")
        return relative_error(self.right, found) if found.shape == self.right.shape else float("inf")

    def run(self, edits: Sequence[Edit] = ()) -> np.ndarray:
        """What it writes with these edits.

        Raises:
            Exception: whatever the runtime says.
        """
        model = apply_edits(self._open(edits), edits) if edits else self.model
        wanted = {one.name for one in model.graph.input}
        feeds = {name: value for name, value in {**self.feeds, **self.others}.items() if name in wanted}
        return np.asarray(load_session(model).run([self.output], feeds)[0])

    def _open(self, edits: Sequence[Edit]) -> Any:
        """The site with those others as inputs that the edits let it read."""
        read = [edit.value for edit in edits if isinstance(edit, Rewire) and edit.value in self.others]
        model = type(self.model)()
        model.CopyFrom(self.model)
        model.graph.input.extend(_input(name, self.others[name]) for name in dict.fromkeys(read))
        return model

    @cached_property
    def nodes(self) -> list[Any]:
        """Nodes that compute: no constants."""
        graph = OnnxGraph(self.model)
        moving = {name for node in graph.nodes for name in node.outputs}
        return [node for node in self.model.graph.node if moving.intersection(node.output)]

    def constants(self) -> Iterator[tuple[Any, int, np.ndarray]]:
        """Every constant that a node reads: the node, the slot, the values."""
        graph = OnnxGraph(self.model)
        held = {name: array for node in graph.nodes for name, array in graph.parameters(node).items()}
        for node in self.nodes:
            for slot, name in enumerate(node.input):
                if name in held:
                    yield node, slot, held[name]


def _input(name: str, value: np.ndarray) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


def cut(model: Any, feeds: Mapping[str, np.ndarray], output: str) -> Any:
    """The sub-graph of a model between these values and this output, as a model.

    Raises:
        KeyError: if it needs an input of the model that is not among the values.
    """
    from onnx import helper

    wanted, nodes = {output}, []
    for node in reversed(model.graph.node):
        if any(name in wanted and (name not in feeds or name == output) for name in node.output):
            nodes.append(node)
            wanted.update(reads(node))
    made = {name for node in nodes for name in node.output}
    read = [name for name in feeds if name in wanted and name not in made]
    held = [one for one in model.graph.initializer if one.name in wanted]
    missing = wanted - made - set(read) - {one.name for one in held} - {""}
    if missing:
        raise KeyError(f"{output} depends on {', '.join(sorted(missing))}, which is not known")
    graph = helper.make_graph(
        list(reversed(nodes)),
        "site",
        [_input(name, feeds[name]) for name in read],
        [helper.make_empty_tensor_value_info(output)],
        held,
    )
    return helper.make_model(
        graph, opset_imports=model.opset_import, ir_version=max(model.ir_version, 4), functions=model.functions
    )
