"""The genetic attack's constraints hold for whatever sentence, and it finds what can be found."""

from __future__ import annotations

import numpy as np
import pytest
from deltann_trainer.attack.base import Victim
from deltann_trainer.attack.table import make
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from deltann.errors import JobFailure
from deltann.kinds.attack import Genetic

WORDS, LENGTH = 30, 40
VECTORS = np.random.default_rng(0).normal(size=(WORDS, 4)).astype(np.float32)
WEIGHTS = np.random.default_rng(1).normal(size=WORDS)
WEIGHTS[0] = 0.0


def _sums(inputs: NDArray[np.int32]) -> NDArray[np.float32]:
    """A linear model of words: class 1 where their weights sum to more than nought."""
    total = WEIGHTS[inputs].sum(axis=1)
    return np.stack([-total, total], axis=1).astype(np.float32)


VICTIM = Victim("other", _sums, embedding=VECTORS)
ATTACK = Genetic(population=4, generations=4, neighbours=3)


def _padded(words: list[int]) -> NDArray[np.int32]:
    row = np.zeros((1, LENGTH), np.int32)
    row[0, LENGTH - len(words) :] = words
    return row


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, WORDS - 1), min_size=1, max_size=LENGTH), st.integers(0, 5))
def test_constraints(words: list[int], seed: int) -> None:
    before = _padded(words)
    labels = _sums(before).argmax(axis=1).astype(np.int64)
    found = make(ATTACK, VICTIM, before, labels, seed=seed, budget_seconds=60)
    changed = found.inputs != before
    assert bool(found.tried[0]) == (len(words) >= 10)
    assert changed.sum() <= 0.25 * len(words)
    assert (before[changed] > 1).all()  # neither padding nor unknown words are changed
    assert (found.inputs[changed] > 1).all()  # nor put in
    assert (found.inputs[changed] < WORDS).all()
    unit = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
    for old, new in zip(before[changed], found.inputs[changed], strict=True):
        cosines = unit @ unit[old]
        nearer = [w for w in range(2, WORDS) if w != old and cosines[w] > cosines[new]]
        assert len(nearer) < ATTACK.neighbours
    if changed.any():
        assert _sums(found.inputs).argmax() != labels[0]
    again = make(ATTACK, VICTIM, before, labels, seed=seed, budget_seconds=60)
    assert np.array_equal(again.inputs, found.inputs)


def test_a_class_that_hangs_on_one_word_is_changed() -> None:
    before = np.full((1, LENGTH), 5, np.int32)

    def predict(inputs: NDArray[np.int32]) -> NDArray[np.float32]:
        fives = (inputs == 5).sum(axis=1)
        return np.stack([fives - LENGTH + 4.5, np.zeros(len(inputs))], axis=1).astype(np.float32)

    attack = Genetic(population=6, generations=20, neighbours=3)
    found = make(
        attack, Victim("other", predict, embedding=VECTORS), before, np.zeros(1, np.int64), seed=0, budget_seconds=60
    )
    assert predict(found.inputs).argmax() == 1
    assert 5 <= (found.inputs != before).sum() <= 10  # five are needed, ten are a quarter


def test_a_budget_that_is_over_leaves_inputs_untried() -> None:
    before = np.full((3, LENGTH), 5, np.int32)
    found = make(ATTACK, VICTIM, before, np.zeros(3, np.int64), seed=0, budget_seconds=0)
    assert not found.tried.any()
    assert np.array_equal(found.inputs, before)


def test_images_are_refused() -> None:
    with pytest.raises(JobFailure, match="was asked of images"):
        make(ATTACK, VICTIM, np.zeros((1, 8, 8, 1), np.float32), np.zeros(1, np.int64), seed=0, budget_seconds=1)


def test_a_model_without_word_vectors_is_refused() -> None:
    with pytest.raises(JobFailure, match="no embedding"):
        make(ATTACK, Victim("other", _sums), _padded([3] * 12), np.zeros(1, np.int64), seed=0, budget_seconds=1)
