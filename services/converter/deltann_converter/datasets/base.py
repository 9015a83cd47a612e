"""What every data set is opened as, and which of its inputs a part is."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from deltann.kinds.resolve import Part, Split


@dataclass(frozen=True)
class DataSet:
    """Inputs that are not read yet, in a fixed order.

    ``items`` are photos with ``id`` and ``read()``, the rows of an array, or sentences, as ``kind`` says. ``parts`` are
    the positions of the parts that the set itself has; empty where it has none.
    """

    kind: Literal["images", "arrays", "sentences"]
    items: Any
    ids: Sequence[str]
    labels: Sequence[int | None]
    parts: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def part(self, wanted: Part | None, split: Split) -> list[int]:
        """The positions of a part in order; of all inputs where none is asked for."""
        everything = range(len(self.ids))
        if wanted is None:
            return list(everything)
        if self.parts:
            return list(self.parts[wanted])
        order = list(everything)
        random.Random(split.seed).shuffle(order)
        tests = sorted(order[: round(len(order) * split.test)])
        return tests if wanted == "test" else sorted(set(everything) - set(tests))


def parts_by_folder(ids: Sequence[str]) -> dict[str, list[int]]:
    """The parts of a set whose ids begin with ``train/`` and ``test/``, all of them."""
    found: dict[str, list[int]] = {"train": [], "test": []}
    for position, name in enumerate(ids):
        folder = name.partition("/")[0]
        if folder not in found:
            return {}
        found[folder].append(position)
    return found if all(found.values()) else {}
