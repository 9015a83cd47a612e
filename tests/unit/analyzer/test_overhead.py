"""Overhead on time lines whose shares can be worked out by hand."""

from __future__ import annotations

import pytest
from deltann_analyzer.overhead import Span, overhead_share
from hypothesis import given
from hypothesis import strategies as st


def test_overhead_is_none_without_work() -> None:
    assert overhead_share([]) is None
    assert overhead_share([Span("q", 0, 5, 5, 0)]) is None


def test_overhead_is_zero_when_the_slot_works_all_the_time() -> None:
    assert overhead_share([Span("q", 0, 0, 10, 10), Span("q", 10, 10, 15, 5)]) == 0


def test_overhead_counts_time_in_the_slot_beside_the_handler() -> None:
    # 10 s in the slot, of which 8 s in the handler.
    assert overhead_share([Span("q", 0, 0, 10, 8)]) == pytest.approx(0.2)


def test_overhead_counts_a_free_slot_while_a_job_is_ready() -> None:
    # Ready at 0, taken at 2: idle 2 of 2 + 8.
    assert overhead_share([Span("q", 0, 2, 10, 8)]) == pytest.approx(0.2)


def test_overhead_does_not_count_waiting_for_a_slot() -> None:
    # One slot, never two jobs at once: the second waits for the first, which is no overhead.
    assert overhead_share([Span("q", 0, 0, 5, 5), Span("q", 0, 5, 10, 5)]) == 0


def test_overhead_does_not_count_a_slot_without_a_ready_job() -> None:
    # Two queues in a chain: while one works, the other has nothing that it could do.
    assert overhead_share([Span("convert", 0, 0, 5, 5), Span("execute", 5, 5, 10, 5)]) == 0


def test_overhead_counts_the_second_slot_of_a_queue_that_had_two() -> None:
    # Two slots (both used from 0 to 2). From 2 to 4 one of them is free although the third job is ready.
    spans = [Span("q", 0, 0, 2, 2), Span("q", 0, 0, 6, 6), Span("q", 0, 4, 6, 2)]
    assert overhead_share(spans) == pytest.approx(2 / (10 + 2))


def test_overhead_does_not_count_a_job_held_back_by_a_lower_phase() -> None:
    spans = [Span("execute", 0, 0, 5, 5, phase=0), Span("time", 0, 5, 10, 5, phase=1)]
    assert overhead_share(spans) == 0


def test_overhead_does_not_count_slots_beside_an_exclusive_job() -> None:
    spans = [Span("a", 0, 0, 5, 5, exclusive=True), Span("b", 0, 5, 10, 5)]
    assert overhead_share(spans) == 0


def test_overhead_counts_a_ready_exclusive_job_once_the_host_is_free() -> None:
    # The host is free from 5 on, the exclusive job starts at 6.
    spans = [Span("a", 0, 0, 5, 5), Span("b", 0, 6, 10, 4, exclusive=True)]
    assert overhead_share(spans) == pytest.approx(1 / 10)


def test_overhead_leaves_out_a_pause_in_which_nothing_runs() -> None:
    # Killed at 10 and resumed a day later.
    assert overhead_share([Span("q", 0, 0, 10, 10), Span("q", 0, 86_400, 86_410, 10)]) == 0


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"), st.floats(0, 50), st.floats(0, 20), st.floats(0, 20), st.floats(0, 30),
            st.integers(0, 2), st.booleans(),
        ),
        min_size=1, max_size=25,
    )
)  # fmt: skip
def test_overhead_is_a_share(jobs: list[tuple[str, float, float, float, float, int, bool]]) -> None:
    spans = [
        Span(queue, ready, ready + wait, ready + wait + takes, work, phase, exclusive)
        for queue, ready, wait, takes, work, phase, exclusive in jobs
    ]
    share = overhead_share(spans)
    assert share is None or 0 <= share <= 1
