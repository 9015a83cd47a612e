"""Which sweeps are cancelled, looked up no more often than a person can tell."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from deltann.errors import StoreError
from deltann.store import ArtifactStore
from deltann.store.layout import sweep_key

_LOOK_S = 2.0
_log = logging.getLogger(__name__)


class Cancellations:
    """Asks the store whether a sweep is cancelled, every two seconds at most while it is not.

    Args:
        store: the artifact store.
    """

    def __init__(self, store: ArtifactStore) -> None:
        self._store = store
        self._looked: tuple[str, float] | None = None
        """The sweep that was not cancelled at the last look, and when that was."""

    def stands(self, sid: str) -> bool:
        """Whether a sweep is cancelled.

        Raises:
            StoreError: if the store is not there.
        """
        now = time.monotonic()
        if self._looked is not None and self._looked[0] == sid and now - self._looked[1] < _LOOK_S:
            return False
        self._looked = None
        cancelled = self._store.exists(sweep_key(sid, "cancelled"))
        if not cancelled:
            self._looked = sid, now
        return cancelled

    def watch(self, sid: str) -> Callable[[], bool]:
        """The same for a job in hand, which goes on while the store does not say."""

        def ask() -> bool:
            try:
                return self.stands(sid)
            except StoreError as error:  # the job may be over before the store has to be there again
                _log.warning("whether %s is cancelled is not known: %s", sid, error)
                self._looked = sid, time.monotonic()
                return False

        return ask
