"""Finds jobs that were sent and got lost: neither done, nor leased, nor in their queue."""

from __future__ import annotations

from collections import Counter

import redis

from deltann.dispatcher.graph import GraphState
from deltann.dispatcher.troubles import Key, Troubles
from deltann.queue import Publisher, names
from deltann.queue.leases import held
from deltann.store.layout import sweep_of


class Losses:
    """Compares what was sent with what Redis knows of it, at every look.

    A job that is missing once may be on its way from its queue to a worker's lease: it counts as lost when it is
    missing at the next look too. One that was leased at the last look, or reported as not to be settled, does at once.

    Args:
        client: Redis.
        publisher: knows what is in the queues.
        troubles: jobs that were reported as not to be settled.
    """

    def __init__(self, client: redis.Redis, publisher: Publisher, troubles: Troubles) -> None:
        self._redis, self._publisher, self._troubles = client, publisher, troubles
        self._suspects: set[Key] = set()
        self._leased: set[Key] = set()

    @property
    def suspected(self) -> bool:
        """Whether the next look may find something."""
        return bool(self._suspects)

    def clear(self) -> None:
        """Forget what was seen."""
        self._suspects.clear()
        self._leased.clear()

    def look(self, graph: GraphState) -> tuple[list[int], Counter[str]]:
        """The jobs of a graph that have lost their worker or message, done or not, and how many run, by kind."""
        sent = list(graph.sent)
        leases = held(self._redis, [names.lease(graph.name, index) for index in sent])
        leased = {index for index, taken in zip(sent, leases, strict=True) if taken}
        waiting: set[str] = set()
        for queue in {graph.queue_of[index] for index in sent if index not in leased}:
            waiting |= self._publisher.queued(queue)
        missing = {
            (graph.name, index)
            for index in sent
            if index not in leased and names.task_id(graph.name, index) not in waiting
        }
        lost = {one for one in missing if one in self._suspects or one in self._leased or one in self._troubles}
        sid = sweep_of(graph.name)
        self._suspects = {one for one in self._suspects if sweep_of(one[0]) != sid} | (missing - lost)
        self._leased = {one for one in self._leased if sweep_of(one[0]) != sid} | {(graph.name, i) for i in leased}
        return sorted(index for _, index in lost), Counter(graph.kinds[index] for index in leased)
