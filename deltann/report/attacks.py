"""The part of the report on models under attack, before and after their conversion."""

from __future__ import annotations

from pydantic import Field

from deltann.base import Data
from deltann.model import Framework
from deltann.report.share import Share


class AttackRun(Data):
    """One attack on one native; ``failed`` says why it gave no adversarial set, and is null where it did.

    Counts and distances are as :class:`deltann.kinds.attack.AttackData` has them. ``unfinished`` inputs were left when
    the budget was spent.
    """

    attack: str
    model: str
    instance: str
    framework: Framework
    right: int | None = Field(default=None, description="Inputs that could have been drawn")
    asked: int | None = None
    n: int | None = Field(default=None, description="Inputs of the adversarial set")
    unfinished: int | None = None
    impossible: int | None = None
    linf: float | None = None
    l2: float | None = None
    changed: float | None = None
    seconds: float | None = None
    failed: str | None = None


class AttackMeasures(Data):
    """An adversarial set given to the model that it was made on and to a variant, over the ``n`` inputs that both
    classify rightly without the attack; ``left_out`` are those of the set that one of them does not.

    ``success_before`` and ``success_after`` are the shares that the model and the variant misjudge,
    ``misclassification`` the share that they class differently, ``error_abs`` the mean of |a − b| over all outputs.
    ``way`` is as in the tables of trained models; ``across``: the variant is the native of another framework.
    """

    attack: str
    model: str
    framework: Framework
    instance: str
    way: str
    across: bool = False
    n: int
    left_out: int
    success_before: Share | None = None
    success_after: Share | None = None
    misclassification: Share | None = None
    error_abs: float | None = None


class AttackMeans(Data):
    """Means over the instances of a configuration that have the measures; ``std_after`` is null for one instance."""

    attack: str
    model: str
    framework: Framework
    way: str
    across: bool
    instances: int
    success_before: Share
    success_after: Share
    std_after: float | None
    misclassification: Share
    error_abs: float | None


class ConversionRobustness(Data):
    """The indicator R of a model's conversion, beside the other models of the same way; of so many attacks."""

    model: str
    framework: Framework
    way: str
    r: float
    attacks: int


class AttackReport(Data):
    """All of it."""

    runs: list[AttackRun]
    measures: list[AttackMeasures]
    means: list[AttackMeans]
    robustness: list[ConversionRobustness]
