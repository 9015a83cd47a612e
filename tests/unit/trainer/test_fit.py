"""Rates over the epochs."""

from __future__ import annotations

import pytest

from deltann.kinds.train import Constant, Cosine, Fit, Steps
from deltann.spec.training import Training


def test_a_constant_schedule_leaves_the_rate() -> None:
    assert Constant().factor(7, 10) == 1.0


def test_steps_multiply_at_the_beginning_of_their_epochs() -> None:
    steps = Steps(epochs=(2, 4), by=0.5)
    assert [steps.factor(epoch, 6) for epoch in range(6)] == [1, 1, 0.5, 0.5, 0.25, 0.25]


def test_a_cosine_begins_whole_and_is_half_in_the_middle() -> None:
    cosine = Cosine()
    assert cosine.factor(0, 10) == 1.0
    assert cosine.factor(5, 10) == pytest.approx(0.5)
    assert cosine.factor(10, 10) == pytest.approx(0.0)


def test_instances_have_seeds_of_their_own_that_are_the_same_in_every_framework() -> None:
    training = Training(network="lenet5", instances=2, seed=5, epochs=3)
    assert list(training.runs()) == [(1, "keras", 5), (1, "pytorch", 5), (2, "keras", 6), (2, "pytorch", 6)]
    assert training.fit == Fit(epochs=3)
