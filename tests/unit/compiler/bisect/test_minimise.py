from __future__ import annotations

import zlib

import pytest
from deltann_compiler.bisect.minimise import OutOfTimeError, minimise
from hypothesis import given
from hypothesis import strategies as st

NUMBERS = st.integers(1, 24)


@given(NUMBERS, st.data())
def test_what_is_needed_is_all_that_stays_when_more_never_hides_it(n: int, data: st.DataObject) -> None:
    needed = data.draw(st.sets(st.integers(0, n - 1), min_size=1))
    found = minimise(range(n), needed.issubset)
    assert (found.kept, found.minimal) == (tuple(sorted(needed)), True)


@given(NUMBERS, st.integers(0, 2**32), st.integers(1, 3))
def test_whatever_is_asked_nothing_that_stays_can_be_left_out(n: int, seed: int, share: int) -> None:
    """An arbitrary predicate: one of so many sets shows it, and the whole set does."""
    asked: list[tuple[int, ...]] = []

    def shows(some: tuple[int, ...]) -> bool:
        asked.append(some)
        return len(some) == n or zlib.crc32(repr((seed, some)).encode()) % (share + 1) == 0

    found = minimise(range(n), shows)
    counted = list(asked)
    assert len(set(counted)) == len(counted), "no set is asked twice"
    assert len(counted) <= n * n + 3 * n
    assert () not in counted
    assert list(found.kept) == sorted(found.kept)
    assert shows(found.kept)
    if len(found.kept) > 1:
        for one in found.kept:
            assert not shows(tuple(other for other in found.kept if other != one))


def test_one_of_many_is_found_by_halving() -> None:
    asked = []

    def shows(some: tuple[int, ...]) -> bool:
        asked.append(some)
        return 700 in some

    assert minimise(range(1000), shows).kept == (700,)
    assert len(asked) <= 20


def test_what_depends_on_each_other_stays_together() -> None:
    """A set that lacks a pass which another one needs cannot be built, and shows nothing."""
    needs = {5: 2, 7: 5}

    def shows(some: tuple[int, ...]) -> bool:
        return 7 in some and all(needs[one] in some for one in some if one in needs)

    assert minimise(range(12), shows).kept == (2, 5, 7)


def test_where_the_time_ends_the_smallest_so_far_is_given_and_not_called_minimal() -> None:
    left = [3]

    def shows(some: tuple[int, ...]) -> bool:
        if not left[0]:
            raise OutOfTimeError
        left[0] -= 1
        return 0 in some

    found = minimise(range(64), shows)
    assert (found.kept, found.minimal) == (tuple(range(8)), False)


def test_other_errors_are_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError):
        minimise(range(3), lambda some: bool(1 // 0))
