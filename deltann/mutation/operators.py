"""All operators, by name."""

from __future__ import annotations

from deltann.mutation.facts import OperatorFacts, Parameter
from deltann.mutation.graph import GRAPH

OPERATORS: dict[str, OperatorFacts] = {**GRAPH}
"""The names that a mutation may have."""

__all__ = ["OPERATORS", "OperatorFacts", "Parameter"]
