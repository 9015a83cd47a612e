"""The part of the report that answers research questions."""

from __future__ import annotations

from pydantic import JsonValue

from deltann.base import Data
from deltann.report.pairs import PairAxis


class Table(Data):
    """A table: every row has one cell per column."""

    columns: list[str]
    rows: list[list[JsonValue]]


class Strongest(Data):
    """The axis that moves labels most, and the one that moves times most; null where none moves them."""

    labels: PairAxis | None
    times: PairAxis | None


class Sensitivity(Table):
    """How much labels and times move along each axis, per model; and, by model, which axis matters most."""

    strongest: dict[str, Strongest]


class Questions(Data):
    """The research questions: labels and times under conversion (1, 2), optimisation (3, 4) and device (5, 6)."""

    RQ1: Table
    RQ2: Table
    RQ3: Table
    RQ4: Table
    RQ5: Table
    RQ6: Table
    sensitivity: Sensitivity
