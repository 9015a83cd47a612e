"""What a worker is doing at the moment, and what it has done: read by the thread that registers it."""

from __future__ import annotations

import time


class Activity:
    """The job in hand and the sum of earlier ones. Times are seconds since the epoch."""

    def __init__(self) -> None:
        self.job = ""
        self.since = time.time()
        self.jobs_done = 0
        self._busy_seconds = 0.0

    def begin(self, job: str) -> None:
        """A job is in hand; ``job`` is what a person calls it."""
        self.since, self.job = time.time(), job

    def end(self) -> None:
        """It is no longer."""
        now = time.time()
        self._busy_seconds += max(0.0, now - self.since)
        self.jobs_done += 1
        self.since, self.job = now, ""

    @property
    def busy_seconds(self) -> float:
        """Seconds with a job in hand, the present one included."""
        return self._busy_seconds + (max(0.0, time.time() - self.since) if self.job else 0.0)
