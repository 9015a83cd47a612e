from __future__ import annotations

import re

import pytest

from deltann.cli.counts import clock
from deltann.cli.pace import Pace
from deltann.sweep import KindCounts, SweepStatus


def status(done: int, waiting: int = 7, state: str = "running") -> SweepStatus:
    counts = {"execute": KindCounts(waiting=waiting, done=done)}
    return SweepStatus.model_validate({"id": "s-1", "name": "study", "state": state, "counts": counts})


def seen(*looks: tuple[float, int]) -> Pace:
    pace = Pace()
    for seconds, done in looks:
        pace.see(status(done), seconds)
    return pace


@pytest.mark.parametrize(
    ("looks", "left"),
    [
        ([(0.0, 0), (10.0, 5)], 14.0),
        ([(0.0, 2), (10.0, 5)], 70 / 3),  # 2 of the 5 were done by an earlier run
        ([(0.0, 0), (1.0, 5)], None),
        ([(0.0, 3), (10.0, 5)], None),
    ],
)
def test_what_is_left_follows_from_the_jobs_done_since_the_first_look(
    looks: list[tuple[float, int]], left: float | None
) -> None:
    assert seen(*looks).left(status(5)) == (None if left is None else pytest.approx(left))


@pytest.mark.parametrize("state", ["queued", "resolving", "planning", "done", "failed", "cancelled"])
def test_there_is_no_estimate_before_the_plan_and_after_the_end(state: str) -> None:
    assert seen((0.0, 0), (10.0, 5)).left(status(5, state=state)) is None


def test_the_rate_is_of_the_last_minute() -> None:
    assert seen((0.0, 0), (4.0, 100)).per_second() is None
    assert seen((0.0, 0), (10.0, 5)).per_second() == pytest.approx(0.5)
    every_ten_seconds = [(float(second), second * 3) for second in range(0, 100, 10)]
    assert seen(*every_ten_seconds, (150.0, 270 + 30)).per_second() == pytest.approx(30 / 60)
    assert seen((0.0, 9), (10.0, 5)).per_second() == 0  # taken up anew: fewer are done than were


@pytest.mark.parametrize(
    ("looks", "told"),
    [
        ([(0.0, 0), (10.0, 5)], r"0\.5 jobs/s, about 0:14 left, until \d\d:\d\d"),
        ([(0.0, 4), (30.0, 5)], r"2\.0 jobs/min"),
        ([(0.0, 5)], ""),
    ],
)
def test_it_is_told_in_a_few_words(looks: list[tuple[float, int]], told: str) -> None:
    assert re.fullmatch(told, seen(*looks).told(status(5)))


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (61.9, "1:01"), (3600, "1:00:00"), (7325, "2:02:05")])
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text
