"""What a report says of mutants."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deltann.base import Data
from deltann.mutation.facts import MutationLevel
from deltann.outcome import Outcome
from deltann.report.share import Share

Criterion = Literal["top1", "topk", "rbo", "tau", "numeric"]
CRITERIA: tuple[Criterion, ...] = ("top1", "topk", "rbo", "tau", "numeric")

State = Literal["killed", "survived", "equivalent?", "no_mutant", "not_run"]
"""By the first criterion; ``not_run`` where the original has no answers either, or a conversion before was lost."""


class Mutant(Data):
    """A mutant in one build on one pool. ``killed`` counts the inputs on which it is told from its original.

    A mutant that does not run where its original does (crash, time limit, refused by a compiler or an engine) is killed
    whatever the criterion: ``outcome`` tells why. ``stuck``: it gives one answer to all inputs, its original not.
    """

    id: str
    original: str
    model: str
    mutation: str
    operator: str
    level: MutationLevel
    family: str
    engine: str
    target: str | None
    opt_level: int | None
    pool: str
    outcome: Outcome
    state: State
    reason: str | None = Field(description="Why there is no mutant, or it did not run")
    equivalent_because: str | None
    stuck: bool
    n: int
    killed: dict[Criterion, int]
    accuracy_change: float | None = Field(description="Of the first label, against the original")


class KillCell(Data):
    """Mutants of one operator in one build on one pool: a cell of the kill matrix."""

    operator: str
    engine: str
    target: str | None
    opt_level: int | None
    pool: str
    mutants: int = Field(description="Those that are counted: neither missing nor equivalent?")
    equivalent: int
    missing: int = Field(description="No mutant, or not run")
    killed: dict[Criterion, int]


class MutationScore(Data):
    """Killed mutants by counted ones, and the fewest inputs that kill as many; ``exact`` where fewer were ruled out."""

    criterion: Criterion
    mutants: int
    killed: int
    score: Share | None
    smallest: list[str]
    exact: bool


class MutantAcrossDevices(Data):
    """One mutant everywhere. Builds of a group answer every input with the same first label, or fail alike.

    ``differ`` is the largest share of inputs on which two builds differ; ``usual`` the same of their originals.
    """

    model: str
    mutation: str
    operator: str
    family: str
    groups: list[list[str]]
    differ: Share | None
    usual: Share | None


class FamilyDiscrepancy(Data):
    """The mutants of a family: how many answer differently somewhere though their originals do not, and how far."""

    family: str
    mutants: int
    differing: int
    mean: Share | None
    max: Share | None


class MutationReport(Data):
    """Everything about the mutants of a sweep. ``limits`` are those of the criteria that have one."""

    limits: dict[str, float]
    mutants: list[Mutant]
    matrix: list[KillCell]
    scores: list[MutationScore]
    devices: list[MutantAcrossDevices]
    families: list[FamilyDiscrepancy]
