"""Faults that conversions make, put into a copy of a network: where each fits, what it changes, how it is called.

Adding a kind of fault is one entry of :data:`KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from deltann_converter.repair.operators.hyperparameters import attributes
from onnx import numpy_helper

from deltann.faults.edits import Edit, InsertNode, RemoveNode, ReplaceOp, Rewire, SetAttribute, SetInitializer, Tensor

WEIGHTED = ("Conv", "Gemm", "BatchNormalization")
Random = np.random.Generator


@dataclass(frozen=True)
class Kind:
    """A kind of fault.

    Args:
        name: of the kind.
        stage: which localisation should name.
        says: what the kind that it names should begin with.
        fits: whether a node can have it, given the model.
        edits: what breaks it.
        around: whether the nodes beside it may be named: of one that is gone only they are left.
    """

    name: str
    stage: str
    says: str
    fits: Callable[[Any, Any], bool]
    edits: Callable[[Any, Any, Random], list[Edit]]
    around: bool = False


def held(model: Any, name: str) -> np.ndarray | None:
    """The values of an initializer."""
    return next((numpy_helper.to_array(one) for one in model.graph.initializer if one.name == name), None)


def readers(model: Any, value: str) -> list[Any]:
    return [node for node in model.graph.node if value in node.input]


def _weights(name: str, says: str, edit: Callable[[np.ndarray, Random], np.ndarray], slot: int = 1) -> Kind:
    def edits(model: Any, node: Any, random: Random) -> list[Edit]:
        values = edit(held(model, node.input[slot]).copy(), random).astype(np.float32)
        return [SetInitializer(node=node.output[0], slot=slot, values=Tensor.of(values))]

    what = "weights" if slot == 1 else "bias"
    return Kind(
        name, "parameters", f"{what}: {says}",
        lambda model, node: node.op_type in ("Conv", "Gemm") and len(node.input) > slot, edits,
    )  # fmt: skip


def _norm(name: str, says: str, slot: int, edit: Callable[[np.ndarray, Random], np.ndarray]) -> Kind:
    def edits(model: Any, node: Any, random: Random) -> list[Edit]:
        values = edit(held(model, node.input[slot]).copy(), random).astype(np.float32)
        return [SetInitializer(node=node.output[0], slot=slot, values=Tensor.of(values))]

    return Kind(name, "parameters", says, lambda model, node: node.op_type == "BatchNormalization", edits)


def _attribute(name: str, operators: tuple[str, ...], change: Callable[[Any], Any]) -> Kind:
    def edits(model: Any, node: Any, random: Random) -> list[Edit]:
        return [SetAttribute(node=node.output[0], name=name, value=change(attributes(node).get(name)))]

    def fits(model: Any, node: Any) -> bool:
        own = attributes(node).get(name)
        return node.op_type in operators and own is not None and change(own) not in (None, own)

    return Kind(f"attribute {name}", "hyperparameters", f"attribute {name}", fits, edits)


def _pads(own: list[int]) -> list[int] | None:
    """One more before, one less after: what SAME_LOWER is instead of SAME_UPPER."""
    half = len(own) // 2
    return [one + 1 for one in own[:half]] + [one - 1 for one in own[half:]] if min(own[half:]) > 0 else None


def _replace(name: str, operator: str, other: str, **values: Any) -> Kind:
    def edits(model: Any, node: Any, random: Random) -> list[Edit]:
        own = attributes(node) if other.endswith("Pool") else {}
        kept = {key: value for key, value in own.items() if key not in ("ceil_mode", "count_include_pad")}
        return [ReplaceOp(node=node.output[0], op_type=other, attributes={**kept, **values})]

    says = f"operator {other} instead of {operator}"
    return Kind(name, "graph", says, lambda model, node: node.op_type == operator, edits)


def _is_inner(model: Any, node: Any) -> bool:
    return all(one.name != node.output[0] for one in model.graph.output)


def _swap(model: Any, node: Any, random: Random) -> list[Edit]:
    """The node goes behind the one that reads it, where it was before."""
    (reader,) = readers(model, node.output[0])
    constants = tuple(Tensor.of(held(model, name)) for name in node.input[1:])
    behind = InsertNode(
        value=reader.output[0], output=f"{reader.output[0]}_swapped", op_type=node.op_type,
        attributes=attributes(node), constants=constants,
    )  # fmt: skip
    return [RemoveNode(node=node.output[0]), behind]


def _swaps(model: Any, node: Any) -> bool:
    """A batch norm or a pool before a function that works element by element."""
    beside = readers(model, node.output[0])
    return (
        node.op_type in ("BatchNormalization", "AveragePool")
        and len(beside) == 1
        and beside[0].op_type in ("Relu", "LeakyRelu", "Sigmoid", "Tanh")
        and _is_inner(model, beside[0])
    )


def _others(model: Any, node: Any) -> list[str]:
    """Values before a node that could be read in place of its first input: those of the node that the other has."""
    kinds = {name: other for other in model.graph.node for name in other.output}
    order = [name for other in model.graph.node for name in other.output]
    shapes = _shapes(model)
    before = order[: order.index(node.output[0])]
    own = node.input[0]
    return [name for name in before if name != own and shapes.get(name) == shapes.get(own) and kinds[name].op_type]


def _shapes(model: Any) -> dict[str, tuple[int, ...]]:
    import onnx

    inferred = onnx.shape_inference.infer_shapes(model).graph
    return {
        one.name: tuple(side.dim_value for side in one.type.tensor_type.shape.dim)
        for one in (*inferred.value_info, *inferred.output)
    }


def _swapped_axes(model: Any, node: Any) -> list[Edit]:
    perm = list(range(len(_shapes(model)[node.input[0]])))
    perm[-2:] = perm[:-3:-1]
    return [
        InsertNode(
            value=node.input[0], output=f"{node.output[0]}_fault", op_type="Transpose", attributes={"perm": perm},
            reader=node.output[0],
        )
    ]  # fmt: skip


def _insert(name: str, operator: str, **values: Any) -> Kind:
    return Kind(
        name,
        "graph",
        "node too many",
        lambda model, node: (
            node.op_type in ("Conv", "BatchNormalization", "Add", "Concat")
            and _is_inner(model, node)
            and all(reader.op_type != operator for reader in readers(model, node.output[0]))
        ),  # either were too many
        lambda model, node, random: [
            InsertNode(value=node.output[0], output=f"{node.output[0]}_fault", op_type=operator, attributes=values)
        ],
    )


KINDS: tuple[Kind, ...] = (
    _weights("weights zeroed", "zeroed", lambda w, r: w * 0),
    _weights("weights scaled", "scaled", lambda w, r: w * r.uniform(1.05, 2)),
    _weights("weights permuted", "permuted", lambda w, r: np.roll(w, 1 + r.integers(len(w) - 1), axis=0)),
    _weights("weights halved", "half precision", lambda w, r: w.astype(np.float16)),
    _weights("weights disturbed", "other values", lambda w, r: w + r.normal(size=w.shape) * w.std() * 0.3),
    _weights("bias zeroed", "zeroed", lambda b, r: b * 0, slot=2),
    _weights("bias scaled", "scaled", lambda b, r: b * r.uniform(1.5, 3), slot=2),
    _weights("bias permuted", "permuted", lambda b, r: np.roll(b, 1), slot=2),
    _norm("norm's mean zeroed", "mean: zeroed", 3, lambda m, r: m * 0),
    _norm("norm's variance disturbed", "variance: other values", 4, lambda v, r: v * r.uniform(0.5, 2, v.shape)),
    _attribute("pads", ("Conv", "MaxPool", "AveragePool"), _pads),
    _attribute("strides", ("Conv", "MaxPool", "AveragePool"), lambda own: [3 - max(own)] * 2 if max(own) < 3 else None),
    _attribute("dilations", ("Conv",), lambda own: [1, 1]),
    _attribute("epsilon", ("BatchNormalization",), lambda own: 0.1),
    _attribute("alpha", ("LeakyRelu", "Elu", "Gemm"), lambda own: 0.3),
    _attribute("beta", ("Gemm",), lambda own: 0.5),
    _attribute("ceil_mode", ("MaxPool", "AveragePool"), lambda own: 1 - own),
    _attribute("count_include_pad", ("AveragePool",), lambda own: 1 - own),
    _attribute("axis", ("Softmax",), lambda own: 0 if own == 1 else 1),
    _attribute("perm", ("Transpose",), lambda own: [own[0], own[1], own[3], own[2]] if len(own) == 4 else None),
    Kind(
        "clip's maximum", "hyperparameters", "max",
        lambda model, node: node.op_type == "Clip",
        lambda model, node, random: [
            SetInitializer(node=node.output[0], slot=2, values=Tensor.of(np.float32(random.uniform(0.5, 1))))
        ],
    ),
    Kind(
        "pad on the other side", "hyperparameters", "pads",
        lambda model, node: node.op_type == "Pad",
        lambda model, node, random: [
            SetInitializer(node=node.output[0], slot=1, values=Tensor.of(np.array([0, 0, 1, 1, 0, 0, 0, 0])))
        ],
    ),
    Kind(
        "input transposed", "graph", "node too many",
        lambda model, node: node.op_type in ("Flatten", "Reshape", "Conv")
        and len(set((_shapes(model).get(node.input[0]) or (0, 1))[-2:])) == 1
        and _shapes(model)[node.input[0]][-1] > 1,
        lambda model, node, random: _swapped_axes(model, node),
        around=True,
    ),
    _replace("relu replaced by sigmoid", "Relu", "Sigmoid"),
    _replace("relu replaced by leaky", "Relu", "LeakyRelu", alpha=0.2),
    _replace("maximum replaced by average", "MaxPool", "AveragePool"),
    _replace("average replaced by maximum", "AveragePool", "MaxPool"),
    _replace("global average replaced", "GlobalAveragePool", "GlobalMaxPool"),
    _replace("sum replaced by maximum", "Add", "Max"),
    _insert("relu too many", "Relu"),
    _insert("tanh too many", "Tanh"),
    Kind(
        "node removed", "graph", "node missing",
        lambda model, node: node.op_type in ("Relu", "Clip", "BatchNormalization", "LeakyRelu", "Softmax", "Tanh")
        and node.op_type != "Clip",
        lambda model, node, random: [RemoveNode(node=node.output[0])],
        around=True,
    ),
    Kind("order swapped", "graph", "order swapped", _swaps, _swap, around=True),
    Kind(
        "inputs in another order", "graph", "inputs in another order",
        lambda model, node: node.op_type == "Concat",
        lambda model, node, random: [
            Rewire(node=node.output[0], slot=0, value=node.input[-1]),
            Rewire(node=node.output[0], slot=len(node.input) - 1, value=node.input[0]),
        ],
    ),
    Kind(
        "wired to another value", "graph", "wired to another value",
        lambda model, node: node.op_type in ("Conv", "Add")
        and len(readers(model, node.input[0])) > 1  # else what it read is gone, and missing
        and bool(_others(model, node)),
        lambda model, node, random: [
            Rewire(node=node.output[0], slot=0, value=str(random.choice(_others(model, node))))
        ],
        around=True,
    ),
)  # fmt: skip


def beside(model: Any, broken: Any, kind: Kind, node: Any) -> set[str]:
    """First outputs, in the broken model, of the nodes that may be named."""
    there = {name for one in broken.graph.node for name in one.output}
    named = {node.output[0], f"{node.output[0]}_fault"}
    if kind.around:
        named |= {one.output[0] for one in readers(model, node.output[0])} | set(node.input)
        named |= {f"{name}_swapped" for name in named}
    return named & there
