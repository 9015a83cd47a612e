"""Counts the jobs that workers report as not to be settled. Pure."""

from __future__ import annotations

from collections import Counter

MOST = 10
"""Times that a job is tried on hosts in trouble while others of its queue are settled."""

Key = tuple[str, int]
"""Graph and index of a job."""


class Troubles:
    """Decides when trouble with a job is the sweep's end.

    That is soon where nothing else of its queue is settled meanwhile: then no host can work. Where some can, one host
    with a full disk, or of another version, must not end what all others carry on.

    Args:
        soon: times that a job is tried where nothing else is settled.
    """

    def __init__(self, soon: int) -> None:
        self._soon = soon
        self._times: Counter[Key] = Counter()
        self._queues: dict[Key, str] = {}
        self._others_work: set[Key] = set()

    def __contains__(self, key: Key) -> bool:
        return key in self._queues

    def tell(self, key: Key, queue: str) -> bool:
        """Trouble with a job; whether it was tried often enough."""
        self._times[key] += 1
        self._queues[key] = queue
        return self._times[key] >= (MOST if key in self._others_work else self._soon)

    def settled(self, key: Key, queue: str) -> None:
        """A job is settled."""
        self._drop(key)
        self._others_work.update(other for other, its in self._queues.items() if its == queue)

    def forget(self, graphs: tuple[str, ...]) -> None:
        """These graphs are no longer worked on."""
        for key in [key for key in self._queues if key[0] in graphs]:
            self._drop(key)

    def _drop(self, key: Key) -> None:
        self._times.pop(key, None)
        self._queues.pop(key, None)
        self._others_work.discard(key)
