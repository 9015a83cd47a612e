"""One mutation: what makes one mutant of a model."""

from __future__ import annotations

import math

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from deltann.base import Data
from deltann.mutation.facts import OperatorFacts
from deltann.mutation.operators import OPERATORS
from deltann.mutation.positions import Positions


class Mutation(Data):
    """An operator, its parameters and its positions: all the places that these select make ONE mutant."""

    operator: str
    parameters: dict[str, float] = Field(default={}, description="Those that are not the operator's defaults")
    at: Positions = Positions()

    @model_validator(mode="after")
    def _known(self) -> Mutation:
        facts = OPERATORS.get(self.operator)
        if facts is None:
            raise PydanticCustomError("operator", "has no operator of that name; `deltann mutate --list` has them")
        for name, value in self.parameters.items():
            _check(name, value, facts)
        return self

    @property
    def facts(self) -> OperatorFacts:
        """What the tables say of its operator."""
        return OPERATORS[self.operator]

    @property
    def values(self) -> dict[str, float]:
        """Every parameter with its value."""
        return {name: self.parameters.get(name, one.default) for name, one in self.facts.parameters.items()}

    @property
    def name(self) -> str:
        """What the mutant is called: operator, parameters that are not the defaults, positions."""
        chosen = ",".join(f"{name}={value:g}" for name, value in sorted(self.parameters.items()))
        return " ".join(part for part in (self.operator, chosen, str(self.at)) if part)


def _check(name: str, value: float, facts: OperatorFacts) -> None:
    known = facts.parameters.get(name)
    if known is None:
        there_are = ", ".join(facts.parameters) or "none"
        raise PydanticCustomError(
            "parameter", "has no parameter {name}; there are: {there_are}", {"name": name, "there_are": there_are}
        )
    low, high = (-math.inf if known.least is None else known.least), (math.inf if known.most is None else known.most)
    if not math.isfinite(value) or not low <= value <= high:
        raise PydanticCustomError(
            "parameter",
            "has {name} = {value}, which should be a number from {low} to {high}",
            {"name": name, "value": str(value), "low": str(low), "high": str(high)},
        )
