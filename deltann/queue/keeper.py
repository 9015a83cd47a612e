"""Renews a lease, in one thread for the whole life of whoever holds one after the other."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import dataclass

import redis

from deltann.queue.leases import Lease

_RENEW_S = 3.0
_LOOK_S = 1.0
_log = logging.getLogger(__name__)


@dataclass
class _Kept:
    lease: Lease
    healthy: Callable[[], bool]
    context: Context
    """Of whoever holds it, so that what is logged of the lease names the job."""
    due: float


class Keeper:
    """Keeps a lease from expiring while it is needed. Short jobs cost nothing: they have ended before it is due."""

    def __init__(self) -> None:
        self._kept: _Kept | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def keep(self, lease: Lease, healthy: Callable[[], bool]) -> None:
        """Renew this lease until it is dropped, as long as ``healthy()``."""
        with self._lock:
            self._kept = _Kept(lease, healthy, copy_context(), time.monotonic() + _RENEW_S)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)
                self._thread.start()

    def drop(self) -> None:
        """Renew it no longer; a renewal that is under way has ended when this returns."""
        with self._lock:
            self._kept = None

    def _run(self) -> None:
        while True:
            time.sleep(_LOOK_S)
            with self._lock:
                kept = self._kept
                if kept is not None and time.monotonic() >= kept.due:
                    kept.context.run(self._renew, kept)

    def _renew(self, kept: _Kept) -> None:
        if not kept.healthy():
            _log.error("%s is given up: its work is past every limit", kept.lease.key)
            self._kept = None
            return
        kept.due = time.monotonic() + _RENEW_S
        try:
            kept.lease.renew()
        except redis.RedisError as error:  # Redis may come back; the done record decides anyway
            _log.warning("%s could not be renewed: %s", kept.lease.key, error)
