"""One mutation of an ONNX model: where it fits, what it gives, and whether that is still a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deltann.errors import first_line
from deltann.mutation import Mutation, PositionError
from deltann_compiler.mutation.errors import MutationError
from deltann_compiler.mutation.graph.base import REGISTERED
from deltann_compiler.mutation.graph.hashing import ir_hash
from deltann_compiler.mutation.graph.network import Network


@dataclass(frozen=True)
class Mutated:
    """A mutant.

    Args:
        model: the ``onnx.ModelProto``.
        fits: how many places the operator fits.
        places: the names of those that were mutated.
        before: hash of the IR, see :func:`deltann_compiler.mutation.graph.hashing.ir_hash`, of the original.
        after: the same of the mutant.
    """

    model: Any
    fits: int
    places: tuple[str, ...]
    before: str
    after: str


def mutate(original: Any, mutation: Mutation) -> Mutated:
    """The mutant of an ``onnx.ModelProto``, which is left as it is.

    Raises:
        MutationError: ``fits_nowhere``, ``past_the_end``, ``invalid`` or ``unchanged``.
    """
    model = type(original)()
    model.CopyFrom(original)
    network, does = Network(model), REGISTERED[mutation.operator]
    nodes = list(does.places(network))
    if not nodes:
        raise MutationError(
            "fits_nowhere", f"{mutation.operator} fits nowhere in this model: it has no {_singular(mutation)}"
        )
    try:
        chosen = [nodes[place] for place in mutation.at.select(len(nodes))]
    except PositionError as error:
        raise MutationError("past_the_end", f"{mutation.operator}: {error}") from error
    named = tuple(node.name or node.output[0] for node in chosen)
    for node in chosen:
        does.apply(network, node, mutation.values)
    mutant = network.finish()
    check(mutant, original)
    before, after = ir_hash(original), ir_hash(mutant)
    if before == after:
        raise MutationError("unchanged", f"{mutation.name} changes nothing of this model: its IR has the same hash")
    return Mutated(mutant, len(nodes), named, before, after)


def _singular(mutation: Mutation) -> str:
    return mutation.facts.fits.removeprefix("a ").removeprefix("an ")


def check(mutant: Any, original: Any) -> None:
    """Hold a mutant against ONNX's checker and shape inference, and its outputs against the original's.

    Raises:
        MutationError: ``invalid``, with what they say.
    """
    import onnx

    try:
        onnx.checker.check_model(mutant)
        inferred = onnx.shape_inference.infer_shapes(mutant, check_type=True, strict_mode=True, data_prop=True)
    except Exception as error:
        raise MutationError("invalid", f"the mutant is no valid graph: {first_line(error)}") from error
    usual = onnx.shape_inference.infer_shapes(original, data_prop=True)
    for one, two in zip(usual.graph.output, inferred.graph.output, strict=True):
        if _sides(one) != _sides(two):
            raise MutationError(
                "invalid",
                f"the mutant is no variant of the model: its output {one.name} is {_sides(two)}, not {_sides(one)}",
            )


def _sides(value: Any) -> list[int | str]:
    return [side.dim_value if side.HasField("dim_value") else "any" for side in value.type.tensor_type.shape.dim]
