"""Kind ``attack``: inputs that a model classifies rightly, changed until it no longer does."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from deltann.base import Data

ATTACK = "attack"
MOST_INPUTS = 1000
"""Inputs that one attack begins from, at most, as in the papers."""


class Fgsm(Data):
    """Fast gradient sign method (Goodfellow, Shlens and Szegedy 2015): one step along the sign of the loss's gradient.

    ``epsilon`` is a share of the range of the inputs: 0.1 of images in 0..1 is 0.1, of images in −1..1 it is 0.2.
    """

    kind: Literal["fgsm"] = "fgsm"
    epsilon: float = Field(gt=0, le=1)


class Boundary(Data):
    """Boundary Attack (Brendel, Rauber and Bethge 2018): a walk along the boundary of the class, by answers alone."""

    kind: Literal["boundary"] = "boundary"
    steps: int = Field(default=1000, ge=1, le=100_000)


class Genetic(Data):
    """Black-box genetic attack on sentences (Alzantot et al. 2018), without their language model.

    Sentences of ``shortest`` to ``longest`` words, of which at most the share ``changed`` is replaced, by one of the
    ``neighbours`` nearest words of the vocabulary.
    """

    kind: Literal["genetic"] = "genetic"
    population: int = Field(default=20, ge=2, le=1000)
    generations: int = Field(default=20, ge=1, le=1000)
    neighbours: int = Field(default=8, ge=1, le=100)
    shortest: int = Field(default=10, ge=1)
    longest: int = Field(default=100, ge=1)
    changed: float = Field(default=0.25, gt=0, le=0.25)


Attack = Annotated[Fgsm | Boundary | Genetic, Field(discriminator="kind")]
