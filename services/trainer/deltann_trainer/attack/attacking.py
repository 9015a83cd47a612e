"""What every attack gives, and the clock that it looks at."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class BudgetSpentError(Exception):
    """The time of an attack is up."""


class Clock:
    """Seconds that an attack may take, from now on."""

    def __init__(self, seconds: float) -> None:
        self.began = time.monotonic()
        self._end = self.began + seconds

    def look(self) -> None:
        """Go on, or stop.

        Raises:
            BudgetSpentError: when the time is up.
        """
        if time.monotonic() > self._end:
            raise BudgetSpentError

    @property
    def seconds(self) -> float:
        """Taken so far."""
        return time.monotonic() - self.began


@dataclass(frozen=True)
class Attacked:
    """What became of a batch of n inputs: ``x`` like what was given; ``possible`` bool [n], else left as it was."""

    x: Array
    possible: NDArray[np.bool_]


class Attacking(Protocol):
    """An attack on one model. ``batch`` is how many inputs are given to it at once."""

    batch: int

    def attack(self, x: Array, y: Array, seeds: list[list[int]], clock: Clock) -> Attacked:
        """Attack a batch.

        Args:
            x: [n, …], images [n, height, width, channels] as shares 0..1 of their range, words as tokens.
            y: int64 [n], their classes.
            seeds: of each input.
            clock: looked at between queries.

        Raises:
            BudgetSpentError: when the time is up.
            JobFailure: for a model that this attack cannot be made on.
        """
        ...
