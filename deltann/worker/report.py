"""What a worker tells through Redis: that a job is settled or could not be, and what it has counted."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress

import redis

from deltann.base import Data
from deltann.fleet import stats
from deltann.job import Done
from deltann.outcome import Outcome
from deltann.queue import names
from deltann.worker.hold import Hold

RETRY_S = 0.5
_log = logging.getLogger(__name__)


class Report(Data):
    """What a worker tells the dispatcher: job ``index`` of ``graph`` is settled, or could not be for ``trouble``."""

    graph: str
    index: int
    outcome: Outcome | None = None
    trouble: str | None = None


class Reporter:
    """Tells, and waits for Redis where that is away.

    Args:
        client: Redis.
        ending: set where the worker is to end, which ends all waiting.
    """

    def __init__(self, client: redis.Redis, ending: threading.Event) -> None:
        self._redis, self._ending = client, ending

    def tell(self, report: Report) -> None:
        """Report, once Redis is there. A report that is lost is made good by the dispatcher's own look at the store."""
        while True:
            try:
                self._redis.rpush(names.SETTLED, report.model_dump_json())
                return
            except redis.RedisError as error:
                _log.warning("%s could not be reported: %s", report, error)
                if not self.await_redis():
                    return

    def settled(self, report: Report, hold: Hold, queue: str, kind: str, done: Done | None) -> None:
        """Report a settled job, count it and let go of it, in one round trip.

        Args:
            report: of the job.
            hold: on it.
            queue: that it came from.
            kind: of the job.
            done: its record, to be added to the counters that operators watch (what Redis loses of these is lost to
                operators alone); None where another worker has counted it.
        """
        try:
            with self._redis.pipeline(transaction=False) as pipe:
                pipe.rpush(names.SETTLED, report.model_dump_json())
                if done is not None:
                    seconds = max(0.0, done.finished - done.started)  # a clock may have been set back
                    stats.add(pipe, queue, kind, done.outcome, reused=done.reused, seconds=seconds)
                hold.hand_over(pipe)
                pipe.execute()
        except redis.RedisError as error:
            _log.warning("%s could not be reported: %s", report, error)
            if self.await_redis():
                self.tell(report)

    def await_redis(self) -> bool:
        """Return once Redis answers; False where this worker is to end before.

        No job ends while Redis is away: its report would be lost, and the worker could not be given another.
        """
        while not self._ending.wait(RETRY_S):
            with suppress(redis.RedisError):
                self._redis.ping()
                return True
        return False
