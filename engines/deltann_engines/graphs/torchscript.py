"""TorchScript: the inlined graph, its ATen nodes called one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from deltann.engines import DEFAULT
from deltann.errors import ModelError
from deltann.layers.graph import Node
from deltann.model import ModelInfo
from deltann_engines.graphs import Graph
from deltann_engines.torch_engine import prepare

_GROUPS = {"prim::ListConstruct": list, "prim::TupleConstruct": tuple}


class TorchscriptGraph(Graph):
    """Operators of a traced or scripted module in evaluation mode; branches and loops are not taken apart."""

    def __init__(self, module: Any) -> None:
        import torch

        self._torch = torch
        frozen = torch.jit.freeze(module.eval(), optimize_numerics=False)
        graph = frozen.inlined_graph
        self._jit: dict[str, Any] = {}
        self._constants: dict[str, Any] = {}
        nodes, taken = [], set()
        self.feed = list(graph.inputs())[1].debugName()
        for one in graph.nodes():
            outputs = tuple(value.debugName() for value in one.outputs())
            if one.kind() == "prim::Constant":
                self._constants[outputs[0]] = one.output().toIValue()
                continue
            names = dict.fromkeys(value.debugName() for value in one.inputs())
            read = tuple(name for name in names if name not in self._constants)
            if not read:
                self._constants[outputs[0]] = self._call(one, {})[0]
                continue
            path = one.scopeName().rsplit("/", 1)[-1].removeprefix("__module.")
            name = path if path and path not in taken else f"{path}:{outputs[0]}" if path else outputs[0]
            taken.add(name)
            self._jit[name] = one
            nodes.append(Node(name, one.kind().replace("::", "."), read, outputs))
        self.nodes = tuple(nodes)
        self.result = next(graph.outputs()).debugName()

    def ready(self, node: Node, values: Sequence[Any]) -> Callable[[], Sequence[Any]]:
        """The operator with its arguments; control flow raises ModelError when it is called."""
        return partial(self._call, self._jit[node.name], dict(zip(node.inputs, values, strict=True)))

    def _call(self, one: Any, values: dict[str, Any]) -> Sequence[Any]:
        held = {**self._constants, **values}
        args = [held[value.debugName()] for value in one.inputs()]
        kind = one.kind()
        if kind in _GROUPS:
            return [_GROUPS[kind](args)]
        if kind in ("prim::TupleUnpack", "prim::ListUnpack"):
            return list(args[0])
        if kind == "prim::NumToTensor":
            return [self._torch.tensor(args[0])]
        if kind.startswith("prim::"):
            raise ModelError(
                f"The TorchScript graph has {kind}, which cannot be run apart from the rest. Debug its ONNX or its "
                "exported program (.pt2) instead: deltann convert makes the first."
            )
        schema = self._torch._C.parse_schema(one.schema()).arguments
        named = {argument.name: value for argument, value in zip(schema, args, strict=True) if argument.kwarg_only}
        with self._torch.no_grad():
            found = self._torch._C._jit_get_operation(kind)[0](*args[: len(args) - len(named)], **named)
        return list(found) if one.outputsSize() > 1 else [found]

    def parameters(self, node: Node) -> Mapping[str, np.ndarray]:
        """Tensors among the operator's constants."""
        names = [value.debugName() for value in self._jit[node.name].inputs()]
        found = {name: self.unwrap(name, self._constants.get(name)) for name in names}
        return {name: array for name, array in found.items() if array is not None}

    def wrap(self, name: str, array: np.ndarray) -> Any:
        """A tensor that shares nothing with the array: operators that work in place may write to it."""
        return self._torch.from_numpy(array.copy())

    def unwrap(self, name: str, value: Any) -> np.ndarray | None:
        """The array of a tensor."""
        return value.detach().numpy().copy() if isinstance(value, self._torch.Tensor) else None


def open_graph(path: Path, info: ModelInfo) -> Graph:
    """Read a TorchScript file."""
    prepare(1, DEFAULT)
    import torch

    return TorchscriptGraph(torch.jit.load(path, map_location="cpu"))  # type: ignore[no-untyped-call]
