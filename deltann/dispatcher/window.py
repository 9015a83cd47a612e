"""How the window of a queue is shared by the graphs that want to send to it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush


def shares(window: int, sent: Sequence[int], ready: Sequence[int]) -> list[int]:
    """How many jobs each graph may send now, so that those that have any ready come to be in flight alike.

    A large sweep that came first does not keep a small one waiting for its end (max-min fairness).

    Args:
        window: jobs in flight at most, of all graphs together.
        sent: what each has in flight.
        ready: what each could send.
    """
    grants = [0] * len(sent)
    free = window - sum(sent)
    line = [(count, index) for index, count in enumerate(sent) if ready[index]]
    heapify(line)
    while free > 0 and line:
        count, index = heappop(line)
        grants[index] += 1
        free -= 1
        if grants[index] < ready[index]:
            heappush(line, (count + 1, index))
    return grants
