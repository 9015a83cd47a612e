"""Kind ``mutate``: a mutant of a model's graph."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deltann.base import Data
from deltann.model import ModelInfo
from deltann.mutation import Mutation

Reason = Literal["fits_nowhere", "past_the_end", "invalid", "unchanged", "out_of_bounds"]
"""Why there is no mutant; the stage of the job's error."""

Label = Literal["differs", "equivalent?"]


class MutateParams(Data):
    """Mutate role ``model`` (need or source), an ONNX. Artifacts out: ``model``. Data out: :class:`MutateData`.

    Original and mutant are run on ``probes`` seeded inputs, until one of them is answered otherwise.
    """

    info: ModelInfo | None = Field(default=None, description="Of the model, where no job gives it")
    mutation: Mutation
    probes: int = Field(default=64, ge=1)
    seed: int = 0


class Equivalence(Data):
    """Whether any output changed, bit by bit, in ``probes`` inputs; those after the first change were not run.

    A mutant of which none did is ``equivalent?``, and so is one that is proven to be, ``because``.
    """

    label: Label
    probes: int
    because: str = ""


class MutateData(Data):
    """``fits`` places there are; ``places`` are the names of those that were mutated, the first 20.

    ``before`` and ``after`` are hashes of the IR, which differ.
    """

    info: ModelInfo
    fits: int
    mutated: int
    places: list[str]
    before: str
    after: str
    equivalence: Equivalence
