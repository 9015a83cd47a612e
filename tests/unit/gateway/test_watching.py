from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator

import pytest
from deltann_gateway import watching
from deltann_gateway.watching import Looks

from deltann.errors import NotFoundError, StackError


class Counter:
    """Something that goes from 0 to 3, one a look."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.looks: dict[str, int] = {}
        self._seconds = seconds

    def __call__(self, name: str) -> int:
        assert threading.current_thread() is not threading.main_thread()
        if name == "none":
            raise NotFoundError("There is none.")
        time.sleep(self._seconds)
        self.looks[name] = self.looks.get(name, -1) + 1
        return self.looks[name]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "LOOK_S", 0.05)
    monkeypatch.setattr(watching, "_FRESH_S", 0.045)


async def seen(watch: AsyncIterator[int]) -> list[int]:
    return [value async for value in watch]


def test_a_watch_tells_every_change_until_it_is_over() -> None:
    look = Counter()
    looks = Looks(look, over=lambda value: value == 3)
    assert asyncio.run(seen(looks.watch("a"))) == [0, 1, 2, 3]


def test_what_does_not_change_is_told_once() -> None:
    values = iter([1, 1, 1, 2, 2, 3])
    looks = Looks(lambda _: next(values), over=lambda value: value == 3)
    assert asyncio.run(seen(looks.watch("a"))) == [1, 2, 3]


@pytest.mark.parametrize("seconds", [0.0, 0.03])
def test_fifty_who_watch_the_same_cost_no_more_looks_than_one(seconds: float) -> None:
    look = Counter(seconds)

    async def all_of_them() -> list[list[int]]:
        looks = Looks(look, over=lambda value: value >= 3)
        return await asyncio.gather(*(seen(looks.watch("a")) for _ in range(50)))

    for values in asyncio.run(all_of_them()):
        assert values == sorted(set(values))
        assert values[-1] >= 3
    assert look.looks["a"] <= 12


def test_what_fails_is_told_to_each_and_looked_at_anew() -> None:
    async def twice() -> None:
        looks = Looks(Counter(), over=lambda value: value == 3)
        for _ in range(2):
            with pytest.raises(NotFoundError):
                await seen(looks.watch("none"))
        assert await seen(looks.watch("a")) == [0, 1, 2, 3]

    asyncio.run(twice())


def test_one_who_goes_away_disturbs_nobody_else() -> None:
    async def go() -> list[int]:
        looks = Looks(Counter(0.03), over=lambda value: value == 3)
        stays, goes = (asyncio.create_task(seen(looks.watch("a"))) for _ in range(2))
        await asyncio.sleep(0.01)
        goes.cancel()
        return await stays

    assert asyncio.run(go())[-1] == 3


def test_a_gateway_that_goes_down_ends_the_watch() -> None:
    async def go() -> None:
        looks = Looks(Counter(), over=lambda value: False)
        watch = asyncio.create_task(seen(looks.watch("a")))
        await asyncio.sleep(0.1)
        looks.close()
        await watch

    with pytest.raises(StackError, match="going down"):
        asyncio.run(go())
