"""How things that are watched are looked at: once for all who watch the same, however many they are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Generic, TypeVar

from deltann.errors import StackError

LOOK_S = 0.5
"""Between two looks at what is watched."""
_FRESH_S = 0.9 * LOOK_S
T = TypeVar("T")


class Looks(Generic[T]):
    """Looks in threads and shares what was seen.

    Args:
        look: at what has an id.
        over: whether what was seen will not change any more.
    """

    def __init__(self, look: Callable[[str], T], over: Callable[[T], bool]) -> None:
        self._look, self._over = look, over
        self._latest: dict[str, tuple[float, asyncio.Task[T]]] = {}
        self._closed = False

    async def watch(self, name: str) -> AsyncIterator[T]:
        """What is seen now and at every change, until it is over. A client that is gone leaves no thread behind.

        Raises:
            StackError: if the gateway goes down meanwhile.
        """
        last: T | None = None
        while True:
            seen = await self._seen(name)
            if seen != last:
                yield seen
            if self._over(seen):
                return
            last = seen
            await asyncio.sleep(LOOK_S)

    def close(self) -> None:
        """End every watch: clients go on with another gateway, or with this one when it is back."""
        self._closed = True

    async def _seen(self, name: str) -> T:
        if self._closed:
            raise StackError("The gateway is going down. Watch again: another one, or this one when it is back.")
        now = asyncio.get_running_loop().time()
        fresh = {key: (at, task) for key, (at, task) in self._latest.items() if now - at < _FRESH_S}
        if name not in fresh:
            fresh[name] = now, asyncio.create_task(asyncio.to_thread(self._look, name))
        self._latest = fresh
        return await asyncio.shield(fresh[name][1])
