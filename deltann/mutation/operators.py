"""All operators, by name."""

from __future__ import annotations

from deltann.mutation.facts import OperatorFacts, Parameter
from deltann.mutation.graph import GRAPH
from deltann.mutation.kernel import KERNEL

OPERATORS: dict[str, OperatorFacts] = {**GRAPH, **KERNEL}
"""The names that a mutation may have."""

__all__ = ["OPERATORS", "OperatorFacts", "Parameter"]
