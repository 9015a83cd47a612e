"""The hash of what an ONNX graph computes, whatever its nodes and tensors are called."""

from __future__ import annotations

import hashlib
from typing import Any


def ir_hash(model: Any) -> str:
    """SHA-256 of a model: each output by the operators, attributes and constants that it is computed from.

    A node's hash is over its operator, its attributes and the hashes of its inputs, so that neither names, nor the
    order of nodes, nor what no output depends on, change it.
    """
    graph, known = model.graph, {"": b""}
    for place, value in enumerate(graph.input):
        known[value.name] = _digest(b"input", str(place).encode(), value.type.SerializeToString(deterministic=True))
    for tensor in graph.initializer:
        known[tensor.name] = _constant(tensor)
    for node in graph.node:
        attributes = [
            one.SerializeToString(deterministic=True) for one in sorted(node.attribute, key=lambda one: str(one.name))
        ]
        bases = [known[name] for name in node.input]
        made = _digest(node.domain.encode(), node.op_type.encode(), *attributes, b"of", *bases)
        for place, name in enumerate(node.output):
            known[name] = _digest(made, str(place).encode())
    opsets = sorted(f"{one.domain}:{one.version}" for one in model.opset_import)
    return _digest(*(word.encode() for word in opsets), *(known[value.name] for value in graph.output)).hex()


def _constant(tensor: Any) -> bytes:
    from onnx import numpy_helper

    shape = ",".join(map(str, tensor.dims))
    return _digest(b"constant", str(tensor.data_type).encode(), shape.encode(), numpy_helper.to_array(tensor).tobytes())


def _digest(*parts: bytes) -> bytes:
    """Of parts that are told apart by their lengths."""
    state = hashlib.sha256()
    for part in parts:
        state.update(len(part).to_bytes(8, "little") + part)
    return state.digest()
