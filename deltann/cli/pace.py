"""How fast a sweep goes while somebody looks on, and when it will have ended."""

from __future__ import annotations

import time
from collections import deque

from deltann.cli.counts import clock, done, total
from deltann.sweep import SweepStatus

_RECENT_S = 60.0
_SOONEST_S = 5.0
_FEWEST = 3


class Pace:
    """Counts from the first look on: jobs that an earlier run had done say nothing about speed."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._looks: deque[tuple[float, int]] = deque()
        self._before: int | None = None

    @property
    def seconds(self) -> float:
        """Since the first look."""
        return time.monotonic() - self._began

    def see(self, status: SweepStatus, seconds: float | None = None) -> None:
        """A look, so many seconds after the first (now where that is not given)."""
        seconds = self.seconds if seconds is None else seconds
        if self._before is None:
            self._before = done(status)
        self._looks.append((seconds, done(status)))
        while len(self._looks) > 2 and self._looks[1][0] <= seconds - _RECENT_S:
            self._looks.popleft()

    def per_second(self) -> float | None:
        """Jobs per second in the last minute; None before there is anything to go by."""
        if not self._looks or self._looks[-1][0] - self._looks[0][0] < _SOONEST_S:
            return None
        (since, before), (until, after) = self._looks[0], self._looks[-1]
        return max(0, after - before) / (until - since)

    def left(self, status: SweepStatus) -> float | None:
        """Seconds that are left if jobs go on as they did since the first look."""
        if status.ended or status.state in ("queued", "resolving", "planning") or self._before is None:
            return None
        seconds, fresh = self._looks[-1][0], done(status) - self._before
        if fresh < _FEWEST or seconds < _SOONEST_S:
            return None
        every = sum(total(counts) for counts in status.counts.values())
        return seconds / fresh * (every - done(status))

    def told(self, status: SweepStatus) -> str:
        """Rate and estimate of the end in a few words; empty before there is anything to go by."""
        if status.ended:
            return ""
        speed, left = self.per_second(), self.left(status)
        parts = [] if speed is None else [f"{speed:.1f} jobs/s" if speed >= 0.1 else f"{speed * 60:.1f} jobs/min"]
        if left is not None:
            parts.append(
                f"about {clock(left)} left, until {time.strftime('%H:%M', time.localtime(time.time() + left))}"
            )
        return ", ".join(parts)
