"""PyTorch exported programs: the nodes of the FX graph, under the names of the modules they came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from deltann.engines import DEFAULT
from deltann.layers.graph import Node
from deltann.model import ModelInfo
from deltann_engines.graphs import Graph
from deltann_engines.torch_engine import load_program, prepare


class ExportedGraph(Graph):
    """Calls of an FX graph. Parameters and buffers are looked up, as is everything computed from them alone."""

    def __init__(self, module: Any) -> None:
        import torch

        self._torch = torch
        self._module = module
        self._interpreter = torch.fx.Interpreter(module)
        self._fx: dict[str, Any] = {}
        self._constants: dict[Any, Any] = {}
        nodes, taken = [], set()
        for one in module.graph.nodes:
            if one.op == "placeholder":
                self.feed = one.name
            elif one.op == "output":
                self.result = _first(one.args).name
            elif one.op == "get_attr":
                self._constants[one] = self._interpreter.get_attr(one.target, (), {})
            elif one.op == "call_function":
                read = tuple(used.name for used in one.all_input_nodes if used not in self._constants)
                if not read:
                    self._constants[one] = self._call(one, {})()
                    continue
                name = _name(one)
                name = name if name not in taken else f"{name}:{one.name}"
                taken.add(name)
                self._fx[name] = one
                nodes.append(Node(name, _kind(one), read, (one.name,)))
        self.nodes = tuple(nodes)

    def ready(self, node: Node, values: Sequence[Any]) -> Callable[[], Sequence[Any]]:
        """The node's function with its arguments."""
        call = self._call(self._fx[node.name], dict(zip(node.inputs, values, strict=True)))
        return lambda: [call()]

    def _call(self, one: Any, values: dict[str, Any]) -> Callable[[], Any]:
        def value(used: Any) -> Any:
            return self._constants[used] if used in self._constants else values[used.name]

        args, kwargs = self._torch.fx.node.map_arg((one.args, one.kwargs), value)
        call: Callable[[], Any] = self._torch.no_grad()(partial(one.target, *args, **kwargs))
        return call

    def parameters(self, node: Node) -> Mapping[str, np.ndarray]:
        """Parameters and buffers among the call's arguments."""
        held = {one.name: self._constants.get(one) for one in self._fx[node.name].all_input_nodes}
        found = {name: self.unwrap(name, value) for name, value in held.items()}
        return {name: array for name, array in found.items() if array is not None}

    def wrap(self, name: str, array: np.ndarray) -> Any:
        """A tensor that shares nothing with the array: operators that work in place may write to it."""
        return self._torch.from_numpy(array.copy())

    def unwrap(self, name: str, value: Any) -> np.ndarray | None:
        """The array of a tensor."""
        return value.detach().numpy().copy() if isinstance(value, self._torch.Tensor) else None


def _first(args: Any) -> Any:
    return _first(args[0]) if isinstance(args, list | tuple) else args


def _kind(one: Any) -> str:
    """``aten.conv2d`` of ``aten.conv2d.default``."""
    packet = getattr(one.target, "overloadpacket", None)
    return str(packet) if packet is not None else str(getattr(one.target, "__name__", one.target))


def _name(one: Any) -> str:
    """Path of the module that made this call (``features.0.0``), else the call's own name."""
    stack = list((one.meta.get("nn_module_stack") or {}).values())
    path = str(stack[-1][0]) if stack else ""
    return path or str(one.name)


def open_graph(path: Path, info: ModelInfo) -> Graph:
    """Read a .pt2 file."""
    prepare(1, DEFAULT)
    return ExportedGraph(load_program(path).module())
