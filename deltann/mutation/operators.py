"""All operators, by name."""

from __future__ import annotations

from deltann.mutation.facts import OperatorFacts, Parameter
from deltann.mutation.graph import GRAPH
from deltann.mutation.kernel import KERNEL
from deltann.mutation.relax import RELAX

OPERATORS: dict[str, OperatorFacts] = {**GRAPH, **RELAX, **KERNEL}
"""The names that a mutation may have."""

__all__ = ["OPERATORS", "OperatorFacts", "Parameter"]
