"""Which attacks a study makes on its models."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, TypeAdapter

from deltann.kinds.attack import Attack, Boundary, Fgsm, Genetic
from deltann.spec.lists import Distinct, Slug, Some

_Models = Annotated[
    Some[Slug] | None,
    Field(description="Names of models; null: all that are given what this attack changes (images, or words)"),
]
_Name = Annotated[Slug | None, Field(description="What the report calls it; null: its kind and main parameter")]


class FgsmEntry(Fgsm):
    """An attack by gradient."""

    models: _Models = None
    name: _Name = None

    @property
    def title(self) -> str:
        """Its name in the report."""
        return self.name or f"fgsm-{self.epsilon:g}"


class BoundaryEntry(Boundary):
    """An attack by labels alone."""

    models: _Models = None
    name: _Name = None

    @property
    def title(self) -> str:
        """Its name in the report."""
        return self.name or f"boundary-{self.steps}"


class GeneticEntry(Genetic):
    """An attack on words."""

    models: _Models = None
    name: _Name = None

    @property
    def title(self) -> str:
        """Its name in the report."""
        return self.name or f"genetic-{self.generations}"


AttackEntry = FgsmEntry | BoundaryEntry | GeneticEntry


def attack_of(entry: AttackEntry) -> Fgsm | Boundary | Genetic:
    """The attack's parameters alone, on which its results depend."""
    return TypeAdapter[Fgsm | Boundary | Genetic](Attack).validate_python(entry.model_dump(exclude={"models", "name"}))


def _title(entry: AttackEntry) -> str:
    return entry.title


def _none(entries: tuple[AttackEntry, ...]) -> bool:
    """A study without attacks has the id that it had before there were any."""
    return not entries


ChosenAttacks = Annotated[
    tuple[Annotated[AttackEntry, Field(discriminator="kind")], ...],
    Distinct(_title, "has the name of entry {before}: give each attack a name of its own"),
    Field(exclude_if=_none, description="Made on each native, then given to every variant of it"),
]
