"""Parts and batches of training data: the same for every framework and every worker."""

from __future__ import annotations

import numpy as np
import pytest
from deltann_trainer.examples import Examples


def examples(n: int = 10) -> Examples:
    return Examples(np.arange(n, dtype=np.float32)[:, None], np.arange(n))


def test_validation_takes_its_share_and_nothing_is_in_both_parts() -> None:
    trained, kept = examples(10).parted(0.3)
    assert (len(trained), len(kept)) == (7, 3)
    assert sorted([*trained.y, *kept.y]) == list(range(10))
    assert np.array_equal(trained.x[:, 0], trained.y)
    again, _ = examples(10).parted(0.3)
    assert np.array_equal(trained.y, again.y)


def test_without_validation_all_is_trained_on() -> None:
    trained, kept = examples(10).parted(0.0)
    assert (len(trained), len(kept)) == (10, 0)


def test_something_is_always_trained_on() -> None:
    trained, kept = examples(2).parted(0.9)
    assert (len(trained), len(kept)) == (1, 1)


def test_an_epoch_shows_everything_once_in_an_order_of_its_own() -> None:
    one = [label for _, y in examples().batches(4, 0, 0) for label in y]
    two = [label for _, y in examples().batches(4, 0, 1) for label in y]
    assert sorted(one) == sorted(two) == list(range(10))
    assert one != two != sorted(two)
    assert [len(y) for _, y in examples().batches(4, 0, 0)] == [4, 4, 2]
    assert one == [label for _, y in examples().batches(4, 0, 0) for label in y]


def test_the_seed_decides_the_order_and_inputs_stay_with_their_labels() -> None:
    first = [(x[:, 0].tolist(), y.tolist()) for x, y in examples().batches(3, 1, 0)]
    assert all(x == y for x, y in first)
    assert first != [(x[:, 0].tolist(), y.tolist()) for x, y in examples().batches(3, 2, 0)]


@pytest.mark.parametrize("epoch", [0, 5])
def test_without_shuffling_the_order_is_that_of_the_data(epoch: int) -> None:
    assert [label for _, y in examples().batches(4, 9, epoch, shuffle=False) for label in y] == list(range(10))
