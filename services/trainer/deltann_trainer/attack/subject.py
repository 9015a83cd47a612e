"""The model under attack: its answers to inputs of any number, whatever engine and layout it has."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from deltann_engines.base import Session, load
from numpy.typing import NDArray

from deltann.align import align, softmax
from deltann.errors import JobFailure, first_line
from deltann.model import ENGINE_OF, ModelInfo
from deltann.outcome import Outcome
from deltann.preprocess.apply import apply, to_model_input
from deltann.preprocess.steps import Channels, Normalise, Recipe

Array = NDArray[Any]


@dataclass(frozen=True)
class Range:
    """The values that inputs can have: ``low`` and ``high``, scalars or one for each channel."""

    low: Array
    high: Array

    def share(self, x: Array) -> NDArray[np.float32]:
        """Values as shares of the range."""
        shares: NDArray[np.float32] = ((x - self.low) / (self.high - self.low)).astype(np.float32)
        return shares

    def value(self, shares: Array) -> NDArray[np.float32]:
        """Shares as values."""
        values: NDArray[np.float32] = (self.low + shares * (self.high - self.low)).astype(np.float32)
        return values


def array_range(low: float, high: float) -> Range:
    """The range of arrays that are declared to lie in it."""
    return Range(np.float32(low), np.float32(high))  # type: ignore[arg-type]


def photo_range(recipe: Recipe) -> Range:
    """What a recipe makes of black and of white: its last steps are affine, channel by channel."""
    colours = recipe.model_copy(
        update={"steps": tuple(step for step in recipe.steps if isinstance(step, Channels | Normalise))}
    )
    black, white = (apply(colours, np.full((1, 1, 3), value, np.uint8))[0, 0] for value in (0, 255))
    return Range(black.astype(np.float32), white.astype(np.float32))


class Subject:
    """A loaded model.

    Args:
        path: its file.
        info: its description.
        values: the range of its inputs; None for words.
    """

    def __init__(self, path: Path, info: ModelInfo, values: Range | None) -> None:
        self.path, self.info, self.values = path, info, values
        if values is not None and not np.issubdtype(np.dtype(info.input.dtype), np.floating):
            raise JobFailure(
                Outcome.RUN_FAILED,
                "load",
                f"the model takes {info.input.dtype}, whose values cannot be moved by small steps: attack a model that "
                "takes floats, and give what is attacked to this one",
            )
        threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
        try:
            self._session: Session = load(ENGINE_OF[info.framework], path, info, threads)
        except Exception as error:
            raise JobFailure(Outcome.RUN_FAILED, "load", f"could not load the model: {first_line(error)}") from error

    @property
    def many(self) -> bool:
        """Whether it takes more than one input at once."""
        return self.info.input.shape[0] is None

    def prepared(self, x: Array) -> Array:
        """Inputs (shares or tokens) in the model's own layout, range and type."""
        given = x if self.values is None else self.values.value(x)
        return np.concatenate([to_model_input(one, self.info.input) for one in given])

    def outputs(self, x: Array) -> NDArray[np.float32]:
        """[n, classes] for inputs [n, …] as an attack has them, in the data set's own classes."""
        ready = self.prepared(x)
        if self.many:
            raw = self._session.run(ready)
        else:
            raw = np.concatenate([self._session.run(ready[row : row + 1]) for row in range(len(ready))])
        return align(raw.reshape(len(ready), -1), self.info)[0]

    def probabilities(self, x: Array) -> Array:
        """[n, classes], each row summing to 1."""
        found = self.outputs(x)
        return softmax(found) if self.info.output_kind == "logits" else found
