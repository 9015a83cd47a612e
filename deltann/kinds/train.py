"""Kind ``train``: a network, described neutrally, trained in one framework into a model in that framework's format."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field

from deltann.base import Data
from deltann.kinds.resolve import ResolvedModel
from deltann.preprocess.steps import Recipe

TRAIN = "train"
"""Its name. It runs before a sweep is planned, like what resolves; unlike there, a failure of it is a finding, and the
sweep goes on with the models that were trained."""

TrainingFramework = Literal["keras", "pytorch"]

_Rate = Annotated[float, Field(gt=0, lt=1e3)]


class Sgd(Data):
    """Stochastic gradient descent with classical momentum."""

    kind: Literal["sgd"] = "sgd"
    learning_rate: _Rate = 0.01
    momentum: float = Field(default=0.9, ge=0, lt=1)


class Adam(Data):
    """Adam (Kingma and Ba 2015).

    The frameworks place ε otherwise: PyTorch beside the square root of the corrected second moment, Keras beside that
    of the plain one. Where gradients are not far above ε, the same configuration takes other steps.
    """

    kind: Literal["adam"] = "adam"
    learning_rate: _Rate = 0.001
    beta1: float = Field(default=0.9, ge=0, lt=1)
    beta2: float = Field(default=0.999, ge=0, lt=1)
    epsilon: float = Field(default=1e-8, gt=0)


Optimiser = Annotated[Sgd | Adam, Field(discriminator="kind")]


class Constant(Data):
    """The optimiser's own rate throughout."""

    kind: Literal["constant"] = "constant"

    def factor(self, epoch: int, epochs: int) -> float:
        """What the rate is multiplied by in an epoch, counted from 0."""
        return 1.0


class Steps(Data):
    """The rate is multiplied by ``by`` at the beginning of each of these epochs, counted from 0."""

    kind: Literal["steps"] = "steps"
    epochs: tuple[Annotated[int, Field(ge=1)], ...] = Field(min_length=1)
    by: float = Field(default=0.1, gt=0, lt=1)

    def factor(self, epoch: int, epochs: int) -> float:
        """What the rate is multiplied by in an epoch."""
        return self.by ** sum(epoch >= start for start in self.epochs)


class Cosine(Data):
    """The rate falls by half a cosine to nought after the last epoch (Loshchilov and Hutter 2017, without restarts)."""

    kind: Literal["cosine"] = "cosine"

    def factor(self, epoch: int, epochs: int) -> float:
        """What the rate is multiplied by in an epoch."""
        return 0.5 * (1 + math.cos(math.pi * epoch / epochs))


Schedule = Annotated[Constant | Steps | Cosine, Field(discriminator="kind")]


class Fit(Data):
    """How a network is trained: everything but its framework, its data and its seed.

    The share ``validation`` of the training data, drawn with the seed 0, is kept apart and measured after each epoch.
    """

    epochs: int = Field(default=10, ge=1, le=10_000)
    batch: int = Field(default=64, ge=1, le=65_536)
    optimiser: Optimiser = Sgd()
    schedule: Schedule = Constant()
    shuffle: bool = Field(default=True, description="A new order in each epoch, by the seed; false keeps the data's")
    validation: float = Field(default=0.1, ge=0, lt=1)


class TrainParams(Data):
    """Train ``network`` on the data set of role ``data`` (a need, ``resolve_data``).

    ``seed`` decides the initial weights and the batch order, the same in every framework. Images go through ``recipe``.
    Artifacts out: ``model``, a ``.keras`` file or a ``.pt2`` program with a free batch, which gives logits. Data out:
    :class:`TrainedModel`. Checkpoints lie in the store after every epoch, so that a killed worker's successor goes on.
    """

    network: str
    framework: TrainingFramework
    recipe: Recipe
    fit: Fit
    seed: int


class Epoch(Data):
    """Means over an epoch's batches while training, and over what is kept for validation after it.

    Losses are cross-entropies in nats, accuracies shares 0..1; null where nothing is kept for validation, and for a
    loss that is no finite number.
    """

    loss: float | None
    accuracy: float
    validation_loss: float | None = None
    validation_accuracy: float | None = None
    learning_rate: float
    seconds: float


class TrainedModel(ResolvedModel):
    """A trained model: described like any native, with the curves of its training.

    ``seconds`` sum the epochs; ``memory_peak_bytes`` is of the process, the largest of those that had a part in it. A
    process may have trained the same network before.
    ``resumed`` is the number of epochs that a worker before had done, 0 where one did all.
    """

    curves: tuple[Epoch, ...]
    n: int = Field(description="Examples trained on, without those kept for validation")
    seconds: float
    memory_peak_bytes: int
    resumed: int = 0
