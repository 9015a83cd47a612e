"""How an operator is described."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

MutationLevel = Literal["graph", "relax", "kernel"]


@dataclass(frozen=True)
class Parameter:
    """A number that an operator takes: its default, what it is, and between what it may be chosen (both included)."""

    default: float
    what: str
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class OperatorFacts:
    """A mutation operator.

    Args:
        level: ``graph``, on the model's ONNX; ``relax``, on the graph that TVM imports; ``kernel``, on the loops that
            it makes of that.
        family: operators that change the same kind of thing.
        what: what it does to one place.
        fits: what is a place.
        parameters: by name.
        mutatenn: whether MutateNN's configuration lists it, under the same name.
    """

    level: MutationLevel
    family: str
    what: str
    fits: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    mutatenn: bool = False
