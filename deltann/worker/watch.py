"""The thread beside the consumer: registers the worker, rests idle children, and ends a worker that is stuck."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import redis

from deltann.queue.publish import depth
from deltann.worker.children import Children
from deltann.worker.registration import EVERY_S, Registration
from deltann.worker.task import JobTask

_STALLED_S = 60.0
_TIDY_S = 600.0
_log = logging.getLogger(__name__)


class Watch:
    """Looks after a worker every few seconds.

    After a reconnect Celery can stall for good, and a child in the kernel's hands outlives even SIGKILL: then the
    worker starts anew, in the same process.

    Args:
        client: Redis.
        registration: of the worker.
        task: what it runs.
        children: its warm processes.
        idle_s: after so long without a job, a warm child is let go.
        tidy: called now and then.
    """

    def __init__(
        self,
        client: redis.Redis,
        registration: Registration,
        task: JobTask,
        children: Children,
        idle_s: float,
        tidy: Callable[[], object],
    ) -> None:
        self._redis, self._registration, self._task = client, registration, task
        self._children, self._idle_s, self._tidy = children, idle_s, tidy
        self._tidied = -_TIDY_S
        self._stop = threading.Event()
        self._look = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        _log.info("%s has a worker more", self._registration.record.queue)
        self._thread.start()

    def drain(self, **_: object) -> None:
        """The worker takes no more jobs, and ends after the one in hand."""
        self._registration.draining = True
        self._look.set()

    def end(self) -> None:
        """Stop looking; the worker is gone from the fleet."""
        self._stop.set()
        self._look.set()
        self._thread.join(timeout=5)
        with suppress(redis.RedisError):
            self._registration.leave()

    def _run(self) -> None:
        told = False
        while not self._stop.is_set():
            self._once()
            if self._registration.draining and not told:
                # Said here and not by drain(), which runs in a signal handler, maybe in the middle of a line.
                _log.info("it takes no more jobs, and ends after the one in hand")
                told = True
            self._look.wait(EVERY_S)
            self._look.clear()

    def _once(self) -> None:
        task, queue = self._task, self._registration.record.queue
        try:
            self._registration.say(task.activity)
            waits = depth(self._redis, queue) > 0
        except redis.RedisError:
            waits = False
        if not task.within_limits:
            _log.error("%s has a job in hand that cannot be ended; it starts anew", queue)
            _start_anew()
        if self._registration.draining:
            task.pardon()
        if task.busy or self._registration.draining or not waits:
            task.last_active = time.monotonic()
        elif time.monotonic() - task.last_active > _STALLED_S:
            _log.error("%s has jobs but this worker gets none; it starts anew", queue)
            _start_anew()
        self._children.rest(self._idle_s)
        if time.monotonic() - self._tidied > _TIDY_S:
            self._tidied = time.monotonic()
            self._tidy()


def _start_anew() -> None:
    """Run this program again in place of itself; its reaper ends its children."""
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
