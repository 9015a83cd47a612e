"""Rewrites that change nothing of what an ONNX model computes, for converters that read only one spelling of it.

Each is a function over the model that says what it changed. Those that a converter needs run in order before it reads
the model, unless the study switches normalising off to see what the raw converter does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

_POOLS = ("GlobalAveragePool", "ReduceMean", "AveragePool", "GlobalMaxPool", "MaxPool")


Rule = Callable[[Any], list[str]]
_SMALL = 1024
"""Values of a constant that is taken for a shape or an index, at most."""


def normalise(model: Any, rules: tuple[Rule, ...]) -> list[str]:
    """Normalise an ``onnx.ModelProto`` in place by :data:`FOR_KERAS` or :data:`FOR_TORCH`.

    Returns:
        One line per change, for the record of the step.
    """
    return [f"{rule.__name__.strip('_')}: {change}" for rule in rules for change in rule(model)]


def _squeeze_after_pool_to_flatten(model: Any) -> list[str]:
    """Squeeze of both sides of 1 that a pool leaves is Flatten: onnx2keras does not read Squeeze with axes as input.

    Several Squeezes in a row, each of one side, count as one.
    """
    import onnx
    from onnx import helper

    inferred = onnx.shape_inference.infer_shapes(model).graph
    rank = {
        value.name: len(value.type.tensor_type.shape.dim)
        for value in (*inferred.value_info, *inferred.output)
        if value.type.tensor_type.HasField("shape")
    }
    makers = {output: node for node in model.graph.node for output in node.output}
    changed = []
    for node in model.graph.node:
        root = node.input[0] if node.op_type == "Squeeze" else ""
        while root in makers and makers[root].op_type == "Squeeze":
            root = makers[root].input[0]
        pooled = root in makers and makers[root].op_type in _POOLS
        if pooled and rank.get(root) == 4 and rank.get(node.output[0]) == 2:
            node.CopyFrom(helper.make_node("Flatten", [root], list(node.output), name=node.name, axis=1))
            changed.append(node.name)
    if changed:
        _drop_unused_squeezes(model)
    return changed


def _drop_unused_squeezes(model: Any) -> None:
    graph = model.graph
    wanted = {name for node in graph.node for name in node.input} | {value.name for value in graph.output}
    kept = [node for node in graph.node if node.op_type != "Squeeze" or wanted.intersection(node.output)]
    del graph.node[:]
    graph.node.extend(kept)


def _softmax_axis(model: Any) -> list[str]:
    """A Softmax without an axis means the last one since opset 13: say so."""
    from onnx import helper

    changed = []
    for node in model.graph.node:
        if node.op_type == "Softmax" and not any(item.name == "axis" for item in node.attribute):
            node.attribute.append(helper.make_attribute("axis", -1))
            changed.append(node.name)
    return changed


def _plain_interface(model: Any) -> list[str]:
    """Inputs and outputs named input and output: names with a colon break ``keras.Model.export``."""
    held = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in held]
    new_names = {}
    for values, base in ((inputs, "input"), (model.graph.output, "output")):
        for index, value in enumerate(values):
            new = base + (str(index) if index else "")
            if value.name != new:
                new_names[value.name] = new
    _rename(model, new_names)
    return [f"{old} → {new}" for old, new in new_names.items()]


def _plain_values(model: Any) -> list[str]:
    """Names that TensorFlow takes as scopes: they begin with a letter or digit and hold no odd characters."""
    taken = {name for node in model.graph.node for name in (*node.input, *node.output)}
    new_names = {}
    for old in sorted(taken):
        plain = re.sub(r"[^A-Za-z0-9_.]", "_", old).lstrip("_.")
        if not old or plain == old:
            continue
        new = plain or "value"
        while new in taken:
            new += "_"
        taken.add(new)
        new_names[old] = new
    _rename(model, new_names)
    for node in model.graph.node:
        node.name = re.sub(r"[^A-Za-z0-9_.]", "_", node.name).lstrip("_.")
    return [f"{len(new_names)} names"] if new_names else []


def _rename(model: Any, new_names: dict[str, str]) -> None:
    graph = model.graph
    for node in graph.node:
        for names in (node.input, node.output):
            for index, name in enumerate(names):
                names[index] = new_names.get(name, name)
    for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        value.name = new_names.get(value.name, value.name)


def _static_shapes(model: Any) -> list[str]:
    """A batch of 1, and every shape that follows from it a constant: torch.export refuses shapes that are computed."""
    import onnx

    graph = model.graph
    held = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in held]
    if not any(node.op_type == "Shape" for node in graph.node):
        return []
    for value in inputs:
        value.type.tensor_type.shape.dim[0].dim_value = 1
    for value in graph.output:
        value.type.tensor_type.ClearField("shape")
    del graph.value_info[:]
    folded = 0
    while count := _fold_once(model):
        folded += count
    model.CopyFrom(onnx.shape_inference.infer_shapes(model))
    return [f"batch 1, {folded} computed shapes folded"]


def _fold_once(model: Any) -> int:
    """Fold what the shapes that are known now make constant; how many nodes that were."""
    import onnx
    from onnx import numpy_helper

    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    shapes = {
        value.name: [side.dim_value for side in value.type.tensor_type.shape.dim]
        for value in (*inferred.value_info, *inferred.input)
        if value.type.tensor_type.HasField("shape")
        and all(side.HasField("dim_value") for side in value.type.tensor_type.shape.dim)
    }
    small = {
        tensor.name: numpy_helper.to_array(tensor)
        for tensor in model.graph.initializer
        if math.prod(tensor.dims) <= _SMALL
    }
    kept, folded = [], 0
    for node in model.graph.node:
        values = _constant(node, shapes, small)
        if values is None:
            kept.append(node)
            continue
        folded += 1
        for name, value in zip(node.output, values, strict=True):
            small[name] = value
            model.graph.initializer.append(numpy_helper.from_array(value, name))
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return folded


def _constant(node: Any, shapes: dict[str, list[int]], small: dict[str, np.ndarray]) -> list[np.ndarray] | None:
    """The outputs of a node of shapes or of small constants, or None for any other."""
    from onnx.reference import ReferenceEvaluator

    if node.op_type == "Shape" and node.input[0] in shapes:
        begin = next((item.i for item in node.attribute if item.name == "start"), 0)
        end = next((item.i for item in node.attribute if item.name == "end"), None)
        return [np.array(shapes[node.input[0]][begin:end], np.int64)]
    if not node.input or not all(name in small for name in node.input if name):
        return None
    values = ReferenceEvaluator(node).run(None, {name: small[name] for name in node.input if name})
    return [np.asarray(value) for value in values]


FOR_KERAS: tuple[Rule, ...] = (_squeeze_after_pool_to_flatten, _softmax_axis, _plain_interface, _plain_values)
"""What onnx2keras needs, in the order in which they run."""

FOR_TORCH: tuple[Rule, ...] = (_static_shapes, _plain_values)
"""What onnx2torch and torch.export need: a program whose module names hold a semicolon does not load again."""
