"""The genetic attack's constraints hold for whatever sentence, and it finds what can be found."""

from __future__ import annotations

import time

import numpy as np
import pytest
from deltann_trainer.attack.attacking import BudgetSpentError, Clock
from deltann_trainer.attack.genetic import search
from deltann_trainer.attack.words import Neighbours
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from deltann.align import softmax
from deltann.kinds.attack import Genetic

WORDS, LENGTH = 30, 110
VECTORS = np.random.default_rng(0).normal(size=(WORDS + 20, 4)).astype(np.float32)
WEIGHTS = np.random.default_rng(1).normal(size=WORDS)
WEIGHTS[0] = 0.0
ATTACK = Genetic(population=4, generations=4, neighbours=3)
NEAR = Neighbours(VECTORS, range(WORDS), ATTACK.neighbours)


def _scores(sentences: NDArray[np.int32]) -> NDArray[np.float64]:
    """A linear model of words: class 1 where their weights sum to more than nought."""
    total = WEIGHTS[sentences].sum(axis=1)
    return np.asarray(softmax(np.stack([-total, total], axis=1)))


def _padded(words: list[int]) -> NDArray[np.int32]:
    row = np.zeros(LENGTH, np.int32)
    row[LENGTH - len(words) :] = words
    return row


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, WORDS - 1), min_size=1, max_size=LENGTH), st.integers(0, 5))
def test_constraints(words: list[int], seed: int) -> None:
    before = _padded(words)
    label = int(_scores(before[None]).argmax())
    found = search(before, label, _scores, NEAR, ATTACK, np.random.default_rng(seed))
    if not 10 <= len(words) <= 100 or set(words) == {1}:
        assert found is None
        return
    assert found is not None
    changed = found != before
    assert 0 < changed.sum() <= 0.25 * len(words)
    assert (before[changed] > 1).all()  # neither padding nor unknown words are changed
    assert (found[changed] > 1).all()  # nor put in
    assert (found[changed] < WORDS).all()  # tokens that have a vector and are no word of the vocabulary are not either
    for old, new in zip(before[changed], found[changed], strict=True):
        far = np.linalg.norm(VECTORS[2:WORDS] - VECTORS[old], axis=1)
        assert (far < far[new - 2]).sum() <= ATTACK.neighbours  # with itself
    again = search(before, label, _scores, NEAR, ATTACK, np.random.default_rng(seed))
    assert again is not None
    assert np.array_equal(again, found)


def test_a_class_that_hangs_on_five_words_is_changed() -> None:
    before = _padded([5] * 40)

    def scores(sentences: NDArray[np.int32]) -> NDArray[np.float64]:
        fives = (sentences == 5).sum(axis=1)
        return np.asarray(softmax(np.stack([fives - 35.5, np.zeros(len(sentences))], axis=1)))

    found = search(before, 0, scores, NEAR, Genetic(population=6, generations=20, neighbours=3),
                   np.random.default_rng(0))  # fmt: skip
    assert found is not None
    assert scores(found[None]).argmax() == 1
    assert 5 <= (found != before).sum() <= 10  # five are needed, ten are a quarter


def test_a_budget_that_is_spent_stops_it() -> None:
    clock = Clock(1e-9)
    time.sleep(0.001)
    with pytest.raises(BudgetSpentError):
        clock.look()
