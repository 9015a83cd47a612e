"""A network in a framework while it learns: what the training loop knows of it, and where the frameworks are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deltann.kinds.train import Optimiser, TrainingFramework
from deltann.model import Format
from deltann.networks import Network
from deltann.networks.initial import Weights

Inputs = NDArray[Any]
"""[n, height, width, channels] float32, or [n, length] int32, whatever the framework's own layout is."""
Labels = NDArray[np.int64]
State = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Score:
    """Over a batch: the sum of the cross-entropies, in nats, and how many were classified rightly."""

    loss: float
    right: int


class Learner(Protocol):
    """A network with its optimiser. Weights are in the neutral layout of :mod:`deltann.networks.parameters`."""

    format: Format

    def step(self, x: Inputs, y: Labels, rate: float) -> Score:
        """One step down the gradient of the mean cross-entropy of a batch; the score is from before it."""

    def score(self, x: Inputs, y: Labels) -> Score:
        """How a batch is classified, as after training: batch norms by their moving averages."""

    def logits(self, x: Inputs) -> NDArray[np.float32]:
        """[n, classes], as after training."""

    def weights(self) -> Weights:
        """All weights, moving averages among them."""

    def load(self, weights: Weights) -> None:
        """Take these weights for its own."""

    def slots(self) -> State:
        """What the optimiser remembers."""

    def restore(self, slots: State) -> None:
        """Have the optimiser remember that."""

    def save(self, folder: Path) -> Path:
        """The model in the framework's own format."""


def learner(framework: TrainingFramework, network: Network, optimiser: Optimiser, threads: int = 1) -> Learner:
    """The network built in a framework, with whatever weights that begins with."""
    made: Learner = import_module(f"deltann_trainer.{framework}.learner").make(network, optimiser, threads)
    return made
