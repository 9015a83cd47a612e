from hypothesis import given
from hypothesis import strategies as st

from deltann.dispatcher.window import shares

GRAPHS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 300)), max_size=8)


def test_a_small_sweep_gets_its_share_beside_a_large_one():
    assert shares(128, [0, 0], [100_000, 10]) == [118, 10]
    assert shares(128, [0, 0], [100_000, 500]) == [64, 64]


def test_one_that_came_later_catches_up_first():
    assert shares(128, [100, 0], [1000, 1000]) == [0, 28]
    assert shares(128, [128, 0], [1000, 1000]) == [0, 0]


def test_an_even_rest_goes_to_the_first():
    assert shares(5, [0, 0], [9, 9]) == [3, 2]


@given(st.integers(0, 200), GRAPHS)
def test_the_window_is_filled_never_passed_and_fairly(window: int, graphs: list[tuple[int, int]]):
    sent, ready = [sent for sent, _ in graphs], [ready for _, ready in graphs]
    grants = shares(window, sent, ready)
    free = max(0, window - sum(sent))
    assert sum(grants) == min(free, sum(ready))
    assert all(0 <= grant <= could for grant, could in zip(grants, ready, strict=True))
    for i, grant in enumerate(grants):
        if grant == 0:
            continue
        for j, other in enumerate(grants):  # nobody who could have had more has less in flight than one who was given
            assert other == ready[j] or sent[j] + other >= sent[i] + grant - 1
