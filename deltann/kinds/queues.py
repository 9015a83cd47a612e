"""Which queue the jobs of each kind go to: the one table of it."""

from __future__ import annotations

POOL_QUEUE = "exec."
"""What the queues of device pools begin with: every pool has one of its own."""

QUEUES: dict[str, str] = {
    "resolve_model": "converter",
    "resolve_data": "converter",
    "train": "trainer",
    "attack": "trainer",
    "convert": "converter",
    "localize": "converter",
    "repair": "converter",
    "mutate": "compiler",
    "import": "compiler",
    "compile": "compiler",
    "explain": "compiler",
    "build": "compiler",
    "bisect": "compiler",
    "execute": POOL_QUEUE,
    "time": POOL_QUEUE,
    "analyze": "analyzer",
}
"""By kind: the queue of its service, or the beginning of a pool's."""


def queue_of_kind(kind: str, pool: str | None = None) -> str:
    """The queue of a job.

    Args:
        kind: name of the job kind.
        pool: the pool of devices that the job is for, where its kind is bound to one.
    """
    return QUEUES[kind] + (pool or "")
