"""At which of the places that an operator fits it is applied. Places are counted from 0, in the order of the model."""

from __future__ import annotations

import random as random_numbers

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from deltann.base import Data


class PositionError(ValueError):
    """There are fewer places than the positions name; the message says how many there are."""


class Positions(Data):
    """All places where nothing is said; one by ``occurrence``; else of ``start`` to ``end`` − 1 every ``every``-th.

    ``random`` takes so many of these, drawn with ``seed``.
    """

    occurrence: int | None = Field(default=None, ge=0, description="This place alone, counted from 0")
    start: int | None = Field(default=None, ge=0, description="The first place; null: the first of all")
    end: int | None = Field(default=None, ge=1, description="The place after the last; null: all from start on")
    every: int = Field(default=1, ge=1, description="Every n-th place, from start on")
    random: int | None = Field(default=None, ge=1, description="So many places, drawn without replacement")
    seed: int = Field(default=0, description="Of what random draws")

    @model_validator(mode="after")
    def _one_way(self) -> Positions:
        ranged = self.start is not None or self.end is not None or self.every != 1 or self.random is not None
        if self.occurrence is not None and ranged:
            raise PydanticCustomError("both", "names one occurrence and a range: name one of them")
        if self.start is not None and self.end is not None and self.end <= self.start:
            raise PydanticCustomError("empty", "ends before it starts: end is the place after the last")
        return self

    def select(self, count: int) -> tuple[int, ...]:
        """The positions among ``count`` places, ascending.

        Raises:
            PositionError: where one of them is past the last place.
        """
        last = self.occurrence if self.occurrence is not None else max(self.start or 0, (self.end or 1) - 1)
        if last >= count:
            raise PositionError(f"place {last} is past the end: there are {count}, counted from 0")
        if self.occurrence is not None:
            return (self.occurrence,)
        chosen = range(self.start or 0, self.end if self.end is not None else count, self.every)
        if self.random is None:
            return tuple(chosen)
        if self.random > len(chosen):
            raise PositionError(f"{self.random} places were to be drawn, but there are {len(chosen)} to draw from")
        return tuple(sorted(random_numbers.Random(self.seed).sample(chosen, self.random)))

    def __str__(self) -> str:
        """As it stands in the names of mutants: ``#3``, ``#2:8:2``, ``#:4 random 2 seed 7``; nothing for all places."""
        if self.occurrence is not None:
            return f"#{self.occurrence}"
        ends = tuple("" if one is None else str(one) for one in (self.start, self.end))
        step = f":{self.every}" if self.every != 1 else ""
        ranged = f"#{ends[0]}:{ends[1]}{step}" if any(ends) or step else ""
        drawn = f"random {self.random} seed {self.seed}" if self.random is not None else ""
        return " ".join(part for part in (ranged, drawn) if part)
