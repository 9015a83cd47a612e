"""Kind ``attack``: inputs that a model is made to misjudge before its conversion, as a set for all its variants."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from deltann.base import Data
from deltann.model import Framework, ModelInfo
from deltann.preprocess.steps import Recipe

ATTACK = "attack"
MOST_INPUTS = 1_000
"""Inputs of one adversarial set at most: it is one shard, whatever its size."""

WITH_GRADIENTS: frozenset[Framework] = frozenset({"keras", "pytorch"})
"""Frameworks whose files are read as something that can be differentiated."""


class _Attack(Data):
    """What every attack has. ``inputs`` is the most that are attacked, ``budget_seconds`` what that may take."""

    inputs: int = Field(default=100, ge=1, le=MOST_INPUTS)
    seed: int = Field(default=0, ge=0, lt=2**32)
    budget_seconds: float = Field(default=600.0, gt=0, le=24 * 3600)
    model_config = Data.model_config | {"allow_inf_nan": False}


class _OnImages(_Attack):
    bounds: tuple[float, float] = Field(
        default=(0.0, 1.0), description="Of arrays: the least and largest value. Photos have those of their pixels"
    )


class Fgsm(_OnImages):
    """Fast gradient sign method (Goodfellow, Shlens and Szegedy 2015): x + ε · sign(∇ₓ loss), within the bounds."""

    kind: Literal["fgsm"] = "fgsm"
    epsilon: float = Field(gt=0, le=1, description="Share of the range of values that each value is moved by")


class Boundary(_OnImages):
    """Boundary Attack (Brendel, Rauber and Bethge 2018): from noise along the boundary, by the model's labels alone."""

    kind: Literal["boundary"] = "boundary"
    steps: int = Field(default=1_000, ge=1, le=100_000)


class Genetic(_Attack):
    """Black-box genetic attack on words (Alzantot et al. 2018), without its language model.

    The substitutes of a word are its ``neighbours`` in the model's own embedding.
    """

    kind: Literal["genetic"] = "genetic"
    population: int = Field(default=20, ge=2, le=1_000)
    generations: int = Field(default=20, ge=1, le=1_000)
    neighbours: int = Field(default=8, ge=1, le=100)
    changed: float = Field(default=0.25, gt=0, le=0.25, description="Share of the words that may be changed")


Attack = Annotated[Fgsm | Boundary | Genetic, Field(discriminator="kind")]


class AttackParams(Data):
    """Attack role ``model``, a native (a source), on inputs of role ``manifest`` (a source) that it classifies rightly.

    What it answered are the needs ``outputs0`` … , its execute jobs in order. Inputs are drawn by the attack's seed, so
    that equal work gives an equal set. Artifacts out: ``shard``, an ``.npz`` with, for n inputs: ``x`` [n, …] as a
    recipe without steps takes them, ``y`` int64 [n] true labels, ``rows`` int64 [n] places in the data set. A study
    can name the file as its data. Data out: :class:`AttackData`.
    """

    attack: Attack
    info: ModelInfo
    recipe: Recipe
    answers: int = Field(ge=1, description="Number of needs outputs…")


class AttackData(Data):
    """How far it came. ``asked`` were drawn, of ``right`` that may be; ``n`` are in the set, where it went to an end.

    ``unfinished`` were left when the budget was spent; ``impossible`` could not be attacked by this method (no starting
    point, or no word that may be changed) and are no part of the set. ``linf`` and ``l2`` are mean distances to the
    originals over the set, in shares of the range of values; for words ``changed`` is the mean share changed.
    """

    right: int
    asked: int
    n: int
    unfinished: int = 0
    impossible: int = 0
    fooled: int = Field(description="Of the set: those that the attack saw misjudged")
    linf: float | None = None
    l2: float | None = None
    changed: float | None = None
    seconds: float
