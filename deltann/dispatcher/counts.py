"""How many jobs of a kind wait, are queued, run and have ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pydantic import Field

from deltann.base import Data


class KindCounts(Data):
    """Jobs of one kind by where they are; ``outcomes`` parts the settled ones."""

    waiting: int = 0
    queued: int = 0
    running: int = 0
    done: int = 0
    outcomes: dict[str, int] = Field(default_factory=dict)


def merge_counts(first: Mapping[str, KindCounts], second: Mapping[str, KindCounts]) -> dict[str, KindCounts]:
    """The counts of two graphs as one table."""
    table = dict(first)
    for kind, more in second.items():
        here = table.get(kind, KindCounts())
        table[kind] = KindCounts(
            waiting=here.waiting + more.waiting,
            queued=here.queued + more.queued,
            running=here.running + more.running,
            done=here.done + more.done,
            outcomes=dict(Counter(here.outcomes) + Counter(more.outcomes)),
        )
    return table
