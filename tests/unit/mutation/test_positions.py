from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from deltann.mutation import PositionError, Positions


@pytest.mark.parametrize(
    ("given_", "chosen", "name"),
    [
        ({}, (0, 1, 2, 3, 4, 5), ""),
        ({"occurrence": 5}, (5,), "#5"),
        ({"start": 2}, (2, 3, 4, 5), "#2:"),
        ({"end": 2}, (0, 1), "#:2"),
        ({"start": 1, "end": 6, "every": 2}, (1, 3, 5), "#1:6:2"),
        ({"every": 4}, (0, 4), "#::4"),
    ],
)
def test_positions_of_six_places(given_: dict[str, int], chosen: tuple[int, ...], name: str) -> None:
    positions = Positions(**given_)
    assert (positions.select(6), str(positions)) == (chosen, name)


@pytest.mark.parametrize("past", [{"occurrence": 6}, {"start": 6}, {"end": 7}, {"random": 7}])
def test_a_position_past_the_end_says_how_many_there_are(past: dict[str, int]) -> None:
    with pytest.raises(PositionError, match="there are 6"):
        Positions(**past).select(6)


def test_no_place_at_all_is_past_the_end() -> None:
    with pytest.raises(PositionError, match="there are 0"):
        Positions().select(0)


@given(count=st.integers(1, 50), seed=st.integers(0, 9), data=st.data())
def test_random_positions_are_distinct_and_the_same_for_a_seed(count: int, seed: int, data: st.DataObject) -> None:
    positions = Positions(random=data.draw(st.integers(1, count)), seed=seed)
    chosen = positions.select(count)
    assert len(set(chosen)) == positions.random
    assert chosen == tuple(sorted(chosen)) == Positions(random=positions.random, seed=seed).select(count)
    assert set(chosen) <= set(range(count))


def test_seeds_draw_differently() -> None:
    assert len({Positions(random=3, seed=seed).select(40) for seed in range(5)}) > 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"occurrence": 1, "every": 2}, "one occurrence and a range"),
        ({"start": 3, "end": 3}, "ends before it starts"),
        ({"occurrence": -1}, "greater than or equal to 0"),
        ({"every": 0}, "greater than or equal to 1"),
    ],
)
def test_positions_that_mean_nothing_are_refused(wrong: dict[str, int], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Positions(**wrong)
