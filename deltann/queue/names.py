"""The names of DeltaNN's own keys in Redis. Losing any of them loses no work."""

from __future__ import annotations

SETTLED = "deltann:settled"
"""List of reports, JSON: what workers settled, and wake-ups of a submission."""

WAKE = "wake"
"""What is pushed into SETTLED where there is something new to look at in the store."""

LEADER = "deltann:dispatcher"
"""Token of the dispatcher that is active."""

WORKERS = "deltann:worker:"
"""Prefix of the registrations of workers, JSON, which expire."""

POOLS = "deltann:pools"
"""Set of the pools that jobs were ever sent to."""

STATS_JOBS = "deltann:stats:jobs"
"""Hash of counters, see :mod:`deltann.fleet.stats`."""

STATS_SECONDS = "deltann:stats:seconds"
"""Hash of the seconds that belong to :data:`STATS_JOBS`."""

MAX_MESSAGE = 2048
"""Bytes of a job message at most."""


def lease(graph: str, index: int) -> str:
    """Who works on a job."""
    return f"deltann:lease:{graph}:{index}"


def attempts(graph: str) -> str:
    """Hash: how often each job of a graph that is not settled was begun."""
    return f"deltann:attempts:{graph}"


def status(sid: str) -> str:
    """The latest status of a sweep that is being worked on."""
    return f"deltann:status:{sid}"


def task_id(graph: str, index: int) -> str:
    """Id of the Celery message of a job: the same for every copy of it."""
    return f"{graph}#{index}"


def job_of(task_id: str) -> tuple[str, int]:
    """The graph and the index of the job whose message has that id."""
    graph, _, index = task_id.rpartition("#")
    return graph, int(index)
