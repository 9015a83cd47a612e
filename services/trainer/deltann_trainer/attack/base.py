"""What every attack is given and gives."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from deltann.errors import JobFailure
from deltann.outcome import Outcome

Inputs = NDArray[Any]
Labels = NDArray[np.int64]
Mask = NDArray[np.bool_]
Scores = NDArray[np.float32]


@dataclass(frozen=True)
class Victim:
    """The model under attack: float inputs in ``bounds``, or tokens.

    ``model`` is a ``torch.nn.Module`` or a Keras model, in evaluation, that gives logits; None where nothing but
    ``predict`` (inputs [n, …] to scores [n, classes]) can be asked of it. ``embedding`` [tokens, width] is that of a
    model of sentences.
    """

    framework: Literal["keras", "pytorch", "other"]
    predict: Callable[[Inputs], Scores]
    model: Any = None
    bounds: tuple[float, float] = (0.0, 1.0)
    embedding: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class Adversarial:
    """The inputs after an attack, in the order of those before.

    ``tried`` is False where the budget was over before the attack came to an input, or the attack is not made for it;
    such an input is unchanged. ``over`` is whether it was the budget that ended the attack.
    """

    inputs: Inputs
    tried: Mask
    over: bool = False


class Deadline:
    """A budget in seconds, looked at between inputs: what has been begun is ended."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def over(self) -> bool:
        """Whether nothing new may be begun."""
        return time.monotonic() >= self._end


@dataclass
class Progress:
    """Inputs as they are attacked, batch by batch, until the budget is over."""

    inputs: Inputs
    deadline: Deadline
    result: Inputs = field(init=False)
    tried: Mask = field(init=False)
    over: bool = False

    def __post_init__(self) -> None:
        self.result = self.inputs.copy()
        self.tried = np.zeros(len(self.inputs), bool)

    def batches(self, size: int) -> Iterator[slice]:
        """Parts of so many inputs, until the budget is over."""
        for start in range(0, len(self.inputs), size):
            if self.deadline.over:
                self.over = True
                return
            yield slice(start, start + size)

    def keep(self, part: slice, changed: Inputs) -> None:
        """What became of a part."""
        self.result[part], self.tried[part] = changed, True

    def adversarial(self) -> Adversarial:
        """All inputs, attacked or not."""
        return Adversarial(self.result, self.tried, self.over)


class Attacking(Protocol):
    """One attack's module."""

    def __call__(
        self, attack: Any, victim: Victim, inputs: Inputs, labels: Labels, seed: int, deadline: Deadline
    ) -> Adversarial:
        """The inputs after the attack."""
        ...


def refused(why: str) -> JobFailure:
    """An attack that cannot be made of this model or these inputs."""
    return JobFailure(Outcome.RUN_FAILED, "attack", why)
