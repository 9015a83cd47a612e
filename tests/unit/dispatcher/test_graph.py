"""GraphState against a straight simulation, and its rules one by one."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from deltann.dispatcher.graph import GraphState
from deltann.job import Done, Job, Plan
from deltann.outcome import Outcome

OK, BAD, SKIPPED = Outcome.OK, Outcome.RUN_FAILED, Outcome.SKIPPED


def job(index: int, *needs: int, after: Sequence[int] = (), phase: int = 0, queue: str = "q", kind: str = "k") -> Job:
    return Job(
        index=index,
        kind=kind,
        params={},
        queue=queue,
        job_id=str(index),
        needs={f"r{need}": need for need in needs},
        after=tuple(after),
        phase=phase,
    )


def graph(*jobs: Job, done: dict[int, Outcome] | None = None) -> GraphState:
    records = {index: Done(outcome=outcome) for index, outcome in (done or {}).items()}
    return GraphState("g", Plan(jobs=jobs), records)


def taken(state: GraphState, queue: str = "q", count: int = 100) -> list[int]:
    return [job.index for job in state.take(queue, count, 0.0)]


def test_jobs_become_ready_when_all_they_wait_for_has_ended() -> None:
    state = graph(job(0), job(1), job(2, 0, 1), job(3, after=(2,)))
    assert taken(state) == [0, 1]
    assert state.settle(0, OK) == []
    assert taken(state) == []
    state.settle(1, OK)
    assert taken(state) == [2]
    assert state.settle(2, OK) == []
    assert taken(state) == [3]
    state.settle(3, OK)
    assert state.finished


def test_a_lost_need_skips_its_followers_but_not_those_that_come_after_it() -> None:
    state = graph(job(0), job(1, 0), job(2, 1), job(3, after=(0, 1, 2)))
    taken(state)
    assert sorted(state.settle(0, BAD)) == [(1, 0), (2, 1)]
    assert taken(state) == [3]
    assert state.outcomes == {0: BAD, 1: SKIPPED, 2: SKIPPED}


def test_a_mismatched_import_and_invalid_outputs_are_usable() -> None:
    state = graph(job(0), job(1), job(2, 0, 1))
    taken(state)
    state.settle(0, Outcome.IMPORT_MISMATCH)
    assert state.settle(1, Outcome.INVALID_OUTPUT) == []
    assert taken(state) == [2]


def test_the_rest_is_finished_before_the_last_kind_is() -> None:
    state = graph(job(0), job(1), job(2, after=(0, 1), kind="analyze"))
    state.settle(0, OK)
    assert not state.finished_but("analyze")
    state.settle(1, BAD)
    assert state.finished_but("analyze")
    assert not state.finished


def test_a_higher_phase_waits_while_a_lower_one_is_ready_or_sent() -> None:
    state = graph(job(0), job(1, phase=1), job(2, 0))
    assert taken(state) == [0]
    assert taken(state) == []
    state.settle(0, OK)
    assert taken(state) == [2]
    assert taken(state) == []
    state.settle(2, OK)
    assert taken(state) == [1]


def test_a_lower_phase_that_needs_a_higher_one_does_not_block_it() -> None:
    state = graph(job(0, phase=1), job(1, 0, phase=0))
    assert taken(state) == [0]
    state.settle(0, OK)
    assert taken(state) == [1]


def test_done_records_are_taken_over_and_their_skips_made_good() -> None:
    state = graph(job(0), job(1), job(2, 1), job(3, 2), job(4, 0), done={0: OK, 1: BAD})
    assert state.lost == [(2, 1), (3, 2)]
    assert taken(state) == [4]
    state.settle(4, OK)
    assert state.finished


def test_settling_twice_changes_nothing() -> None:
    state = graph(job(0), job(1, 0))
    taken(state)
    state.settle(0, OK)
    assert state.settle(0, BAD) == []
    assert state.outcomes[0] is OK
    assert taken(state) == [1]


def test_a_job_taken_back_is_sent_before_the_others() -> None:
    state = graph(*(job(index) for index in range(4)))
    assert taken(state, count=2) == [0, 1]
    state.take_back(1)
    assert state.sent_per_queue["q"] == 1
    assert taken(state, count=2) == [1, 2]


def test_what_was_sent_before_is_adopted_and_nothing_else() -> None:
    state = graph(job(0), job(1), job(2, 1), job(3, phase=1), job(4), done={4: OK})
    state.adopt([1, 2, 4], 0.0)
    assert list(state.sent) == [1]
    assert state.sent_per_queue["q"] == 1
    assert taken(state) == [0]
    state.settle(1, OK)
    assert taken(state) == [2]


def test_a_job_that_was_settled_elsewhere_is_not_sent() -> None:
    state = graph(job(0), job(1, phase=1))
    state.settle(0, OK)
    assert taken(state) == [1]


def test_counts_say_where_every_job_is() -> None:
    state = graph(job(0, kind="a"), job(1, kind="a"), job(2, 0, kind="b"), job(3, kind="a"))
    taken(state, count=2)
    state.settle(0, BAD)
    counts = state.counts({"a": 1})
    assert counts["a"].model_dump() == {
        "waiting": 1,
        "queued": 0,
        "running": 1,
        "done": 1,
        "outcomes": {"run_failed": 1},
    }
    assert counts["b"].model_dump() == {"waiting": 0, "queued": 0, "running": 0, "done": 1, "outcomes": {"skipped": 1}}


@st.composite
def plans(draw: st.DrawFn) -> list[Job]:
    jobs = []
    for index in range(draw(st.integers(1, 12))):
        earlier = st.lists(st.integers(0, index - 1), max_size=3, unique=True) if index else st.just([])
        queue, phase = draw(st.sampled_from("xy")), draw(st.integers(0, 2))
        jobs.append(job(index, *draw(earlier), after=draw(earlier), phase=phase, queue=queue))
    return jobs


@given(plans(), st.integers(0, 10_000), st.data())
def test_any_order_of_events_ends_with_the_same_outcomes(jobs: list[Job], seed: int, data: st.DataObject) -> None:
    """Whatever is reported when, resumed or not: the outcomes are those of a straight run in topological order."""
    bad = data.draw(st.sets(st.integers(0, len(jobs) - 1)))
    expected: dict[int, Outcome] = {}
    for this in jobs:
        lost = any(not expected[need].usable for need in this.needs.values())
        expected[this.index] = SKIPPED if lost else BAD if this.index in bad else OK
    dice = random.Random(seed)
    state, sent = graph(*jobs), list[int]()
    for _ in range(10 * len(jobs) + 10):
        if state.finished:
            break
        if dice.random() < 0.1:  # a new dispatcher takes over: what is done is known, what was sent is not
            state, sent = graph(*jobs, done=state.outcomes), []
        for queue in "xy":
            fresh = taken(state, queue, dice.randint(0, 3))
            under_way = [jobs[index].phase for index in sent]
            assert all(jobs[index].phase <= min(under_way, default=9) for index in fresh), "a lower phase is under way"
            sent += fresh
        for index in sent:
            this = jobs[index]
            assert all(expected[need].usable and need in state.outcomes for need in this.needs.values())
            assert all(other in state.outcomes for other in this.after)
        if sent:
            index = sent.pop(dice.randrange(len(sent)))
            state.settle(index, expected[index])
    assert state.outcomes == expected
