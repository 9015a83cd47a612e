from __future__ import annotations

from deltann.dispatcher.troubles import MOST, Troubles


def times_until_the_end(troubles: Troubles, key: tuple[str, int], *, others_settled: bool) -> int:
    times = 0
    while True:
        times += 1
        if troubles.tell(key, "converter"):
            return times
        if others_settled:
            troubles.settled(("s", 100 + times), "converter")


def test_it_ends_soon_where_nothing_of_the_queue_is_settled() -> None:
    troubles = Troubles(3)
    troubles.settled(("s", 1), "compiler")
    assert times_until_the_end(troubles, ("s", 0), others_settled=False) == 3


def test_it_ends_late_where_others_of_the_queue_are() -> None:
    assert times_until_the_end(Troubles(3), ("s", 0), others_settled=True) == MOST


def test_what_another_queue_settles_does_not_count() -> None:
    troubles = Troubles(2)
    assert not troubles.tell(("s", 0), "converter")
    troubles.settled(("s", 1), "compiler")
    assert troubles.tell(("s", 0), "converter")


def test_what_is_settled_or_forgotten_begins_anew() -> None:
    troubles = Troubles(2)
    for forget in (lambda: troubles.settled(("s", 0), "q"), lambda: troubles.forget(("s", "s/resolve"))):
        assert not troubles.tell(("s", 0), "q")
        assert ("s", 0) in troubles
        forget()
        assert ("s", 0) not in troubles
    assert not troubles.tell(("s", 0), "q")
