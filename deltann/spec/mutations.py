"""Which mutants of its models a study asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from deltann.base import Data
from deltann.mutation import OPERATORS, Mutation, Positions
from deltann.spec.lists import Distinct, Some

Level = Literal["all", "graph", "relax", "kernel"]


class Mutants(Data):
    """For each operator and each of ``at`` one mutant; for each of the first ``singles`` places one more.

    ``parameters`` hold for every operator that is named.
    """

    operators: Level | Some[str] = Field(description="Names that `deltann mutate --list` tells, or all of a level")
    parameters: dict[str, float] = {}
    at: Some[Positions] = Field(
        default=(Positions(),), description="Places; of each the mutant has all that it selects"
    )
    singles: int | None = Field(
        default=None, ge=1, le=1000, description="One mutant for each of so many places, instead of `at`"
    )

    @model_validator(mode="after")
    def _made(self) -> Mutants:
        if self.singles is not None and self.at != (Positions(),):
            raise PydanticCustomError("both", "has both at and singles: name one of them")
        tuple(self.mutations())
        return self

    def mutations(self) -> Iterator[Mutation]:
        """The mutations, one for each mutant of a model."""
        for operator in self._operators():
            for at in self.at if self.singles is None else (Positions(occurrence=n) for n in range(self.singles)):
                yield Mutation(operator=operator, parameters=self.parameters, at=at)

    def _operators(self) -> tuple[str, ...]:
        if isinstance(self.operators, tuple):
            return self.operators
        return tuple(name for name, facts in OPERATORS.items() if self.operators in ("all", facts.level))


def _as_written(entry: Mutants) -> tuple[str]:
    return (entry.model_dump_json(),)


def _none(entries: tuple[Mutants, ...]) -> bool:
    """A study without mutants has the id that it had before there were any."""
    return not entries


ChosenMutants = Annotated[
    tuple[Mutants, ...],
    Distinct(_as_written),
    Field(
        exclude_if=_none,
        description="Mutants of every native: of its ONNX, and of what TVM makes of it; they are run, and never timed",
    ),
]
