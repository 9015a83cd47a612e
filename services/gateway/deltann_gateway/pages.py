"""The sweeps page by page, the latest first."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable

from deltann.errors import InputError
from deltann.store.base import ArtifactStore
from deltann.store.layout import SUBMITTED
from deltann.sweep.observe import read_submitted

PAGE = 50
_LARGEST = 500
Place = tuple[float, str]
"""Of a sweep in the list: by its time, negative, then its id. It never changes, and those of new sweeps come before."""


class SweepPages:
    """Knows where each sweep is in the list; what it has read once, it keeps."""

    def __init__(self, store: ArtifactStore) -> None:
        self._store = store
        self._times: dict[str, float] = {}

    def page(self, size: int, token: str) -> tuple[list[str], str]:
        """The ids of a page and the token of the next, empty for the last.

        Raises:
            InputError: for a token that is none, or a size beyond what is taken.
        """
        if size > _LARGEST:
            raise InputError(f"page_size: at most {_LARGEST} sweeps are given at a time, not {size}.")
        after = read_token(token) if token else None
        places = sorted(self._places())
        wanted = [place for place in places if after is None or place > after]
        taken = wanted[: size or PAGE]
        more = len(wanted) > len(taken)
        return [sid for _, sid in taken], make_token(taken[-1]) if more else ""

    def _places(self) -> Iterable[Place]:
        for key in self._store.list(SUBMITTED):
            sid = key.removeprefix(SUBMITTED)
            if sid not in self._times:
                self._times[sid] = read_submitted(self._store, sid).time
            yield -self._times[sid], sid


def make_token(last: Place) -> str:
    """The token of the page that begins after a sweep."""
    text = json.dumps(last).encode()
    return base64.urlsafe_b64encode(zlib.crc32(text).to_bytes(4) + text).decode().rstrip("=")


def read_token(token: str) -> Place:
    """The sweep that a page begins after.

    Raises:
        InputError: if the token is none.
    """
    try:
        data = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        if zlib.crc32(data[4:]).to_bytes(4) != data[:4]:
            raise ValueError
        time, sid = json.loads(data[4:])
        return float(time), str(sid)
    except (ValueError, TypeError) as error:
        raise InputError(
            "page_token: is none that ListSweeps gave. Leave it out to begin with the first page."
        ) from error
