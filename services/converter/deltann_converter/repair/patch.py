"""Edits done on an ONNX model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from deltann.faults.edits import (
    Attribute,
    Edit,
    InsertNode,
    RemoveNode,
    ReplaceOp,
    Rewire,
    SetAttribute,
    SetInitializer,
    Tensor,
)

_IR_VERSION = 4
"""The first in which a constant need not be an input of the graph as well."""


class PatchError(ValueError):
    """An edit that does not fit the model."""


def apply_edits(model: Any, edits: Sequence[Edit]) -> Any:
    """A copy of an ``onnx.ModelProto`` with edits done one after the other; what nothing reads any more is dropped.

    Raises:
        PatchError: if the model has no such node, input or value.
    """
    made = type(model)()
    made.CopyFrom(model)
    made.ir_version = max(made.ir_version, _IR_VERSION)
    for edit in edits:
        _apply(edit, made)
    _prune(made)
    del made.graph.value_info[:]
    return made


@singledispatch
def _apply(edit: Any, model: Any) -> None:
    raise NotImplementedError(f"no way to apply {type(edit).__name__}")


@_apply.register
def _(edit: SetInitializer, model: Any) -> None:
    node = _node(model, edit.node)
    while len(node.input) <= edit.slot:
        node.input.append("")
    node.input[edit.slot] = _constant(model, f"{edit.node}_{edit.slot}", edit.values)


@_apply.register
def _(edit: SetAttribute, model: Any) -> None:
    node = _node(model, edit.node)
    kept = [one for one in node.attribute if one.name != edit.name]
    del node.attribute[:]
    node.attribute.extend(kept)
    if edit.value is not None:
        node.attribute.extend(_attributes({edit.name: edit.value}))


@_apply.register
def _(edit: ReplaceOp, model: Any) -> None:
    node = _node(model, edit.node)
    constants = [_constant(model, f"{edit.node}_{place}", one) for place, one in enumerate(edit.constants, 1)]
    data = node.input[0] if edit.constants else None
    node.op_type, node.domain = edit.op_type, ""
    del node.attribute[:]
    node.attribute.extend(_attributes(edit.attributes))
    if data is not None:
        del node.input[:]
        node.input.extend([data, *constants])


@_apply.register
def _(edit: InsertNode, model: Any) -> None:
    from onnx import helper

    graph = model.graph
    constants = [_constant(model, f"{edit.output}_{place}", one) for place, one in enumerate(edit.constants)]
    inputs = [*constants, edit.value] if edit.first else [edit.value, *constants]
    place = next((index for index, one in enumerate(graph.node) if edit.value in one.output), -1) + 1
    readers = [_node(model, edit.reader)] if edit.reader is not None else list(graph.node)
    output, value = edit.output, edit.value
    if edit.reader is None and any(one.name == edit.value for one in graph.output):
        # the graph's output keeps its name: what was there is renamed
        maker = _node(model, edit.value)
        maker.output[list(maker.output).index(edit.value)] = edit.output
        output, value = edit.value, edit.output
        inputs = [value if name == edit.value else name for name in inputs]
    else:
        for reader in readers:
            _replace(reader, edit.value, edit.output)
    made = helper.make_node(edit.op_type, inputs, [output], name=edit.output)
    made.attribute.extend(_attributes(edit.attributes))
    graph.node.insert(place, made)


@_apply.register
def _(edit: RemoveNode, model: Any) -> None:
    from onnx import helper

    graph = model.graph
    node = _node(model, edit.node)
    if edit.slot >= len(node.input):
        raise PatchError(f"{edit.node} has no input {edit.slot}")
    passed, output = node.input[edit.slot], node.output[0]
    if any(one.name == output for one in graph.output):
        maker = next((one for one in graph.node if passed in one.output), None)
        if maker is None or any(one.name == passed for one in graph.output):  # both names have to stay
            node.CopyFrom(helper.make_node("Identity", [passed], [output], name=node.name))
            return
        for reader in graph.node:
            _replace(reader, passed, output)
        maker.output[list(maker.output).index(passed)] = output
    else:
        for reader in graph.node:
            _replace(reader, output, passed)
    graph.node.remove(node)


@_apply.register
def _(edit: Rewire, model: Any) -> None:
    node = _node(model, edit.node)
    if edit.slot >= len(node.input):
        raise PatchError(f"{edit.node} has no input {edit.slot}")
    node.input[edit.slot] = edit.value


def _node(model: Any, output: str) -> Any:
    for node in model.graph.node:
        if output in node.output:
            return node
    raise PatchError(f"no node writes {output}")


def _replace(node: Any, value: str, other: str) -> None:
    for place, name in enumerate(node.input):
        if name == value:
            node.input[place] = other


def _constant(model: Any, stem: str, values: Tensor) -> str:
    from onnx import numpy_helper

    taken = {one.name for one in model.graph.initializer}
    name = next(name for n in range(len(taken) + 1) if (name := f"{stem}_repaired{n or ''}") not in taken)
    model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(values.values), name))
    return name


def _attributes(values: Mapping[str, Attribute]) -> list[Any]:
    from onnx import helper

    return [helper.make_attribute(name, value) for name, value in values.items()]


def _prune(model: Any) -> None:
    """Drop nodes and initializers that no output depends on."""
    from deltann_engines.graphs.onnx import reads

    graph = model.graph
    wanted = {one.name for one in graph.output}
    kept = []
    for node in reversed(graph.node):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted.update(reads(node))
    nodes = [type(node).FromString(node.SerializeToString()) for node in reversed(kept)]
    held = [type(one).FromString(one.SerializeToString()) for one in graph.initializer if one.name in wanted]
    names = {one.name for one in graph.initializer}
    inputs = [one for one in graph.input if one.name not in names or one.name in wanted]
    inputs = [type(one).FromString(one.SerializeToString()) for one in inputs]
    for field, new in ((graph.node, nodes), (graph.initializer, held), (graph.input, inputs)):
        del field[:]
        field.extend(new)
