"""The black-box genetic attack on words (Alzantot et al. 2018, algorithm 1), without its language model."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import NDArray

from deltann.kinds.attack import Genetic
from deltann_trainer.attack.attacking import Array, Attacked, Clock
from deltann_trainer.attack.embedding import embedding
from deltann_trainer.attack.subject import Subject
from deltann_trainer.attack.words import FEWEST_WORDS, MOST_WORDS, Neighbours, lengths

Scores = Callable[[Array], Array]
"""Probabilities [n, classes] of sentences [n, length]."""


class Search:
    """Generations of sentences, each with some words replaced by neighbours; the least like its class live on."""

    batch = 1

    def __init__(self, wanted: Genetic, subject: Subject, known: Collection[int]) -> None:
        self._wanted, self._subject = wanted, subject
        self._neighbours = Neighbours(embedding(subject), known, wanted.neighbours)

    def attack(self, x: Array, y: Array, seeds: list[list[int]], clock: Clock) -> Attacked:
        """Attack a sentence. One that is too short or too long, or of unknown words, cannot be attacked."""

        def scores(sentences: Array) -> Array:
            clock.look()
            return self._subject.probabilities(sentences)

        found = search(x[0], int(y[0]), scores, self._neighbours, self._wanted, np.random.default_rng(seeds[0]))
        return Attacked(x if found is None else found[None], np.array([found is not None]))


def search(
    sentence: Array,
    label: int,
    scores: Scores,
    neighbours: Neighbours,
    wanted: Genetic,
    random: np.random.Generator,
) -> Array | None:
    """The first sentence that is misjudged, or the one that was nearest to it after the last generation.

    Args:
        sentence: tokens [length], 0 where there is no word.
        label: its class.
        scores: of the model.
        neighbours: substitutes of words.
        wanted: the attack's parameters.
        random: decides all that is random.

    Returns:
        Tokens [length], at most the share ``changed`` of its words replaced, none by or in place of what is no word
        of the vocabulary; None for a sentence that has not 10 to 100 words or none that may be replaced.
    """
    words = int(lengths(sentence[None])[0])
    most = int(wanted.changed * words)
    places = np.array([at for at, token in enumerate(sentence) if len(neighbours.of(int(token)))], np.intp)
    if not FEWEST_WORDS <= words <= MOST_WORDS or not most or not len(places):
        return None
    population = np.repeat(sentence[None], wanted.population, axis=0)
    for _ in range(wanted.generations + 1):
        population, fitness, fooled = _perturbed(population, sentence, label, scores, neighbours, places, most, random)
        best = int(fitness.argmax())
        if fooled.any():
            return np.asarray(population[np.flatnonzero(fooled)[fitness[fooled].argmax()]])
        elite = population[best : best + 1]
        chosen = random.choice(len(population), (2, len(population) - 1), p=_odds(fitness))
        mask = random.random((len(population) - 1, len(sentence))) < 0.5
        children = np.where(mask, population[chosen[0]], population[chosen[1]])
        population = np.concatenate([elite, [_within(child, sentence, most, random) for child in children]])
    return np.asarray(elite[0])


def _perturbed(
    population: Array,
    sentence: Array,
    label: int,
    scores: Scores,
    neighbours: Neighbours,
    places: Array,
    most: int,
    random: np.random.Generator,
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Each sentence with one word replaced by the neighbour that fools most; fitness, and which are misjudged."""
    tried, owner = [], []
    for row, one in enumerate(population):
        changed = one != sentence
        allowed = places[changed[places]] if changed.sum() >= most else places
        at = int(random.choice(allowed))
        for token in neighbours.of(int(sentence[at])):
            other = one.copy()
            other[at] = token
            tried.append(other)
            owner.append(row)
    candidates = np.stack(tried)
    answers = scores(candidates)
    fitness, fooled = 1 - answers[:, label], answers.argmax(axis=1) != label
    of = np.array(owner)
    best = [rows[fitness[rows].argmax()] for rows in (np.flatnonzero(of == row) for row in range(len(population)))]
    return candidates[best], fitness[best], fooled[best]


def _odds(fitness: Array) -> Array:
    """Chances to become a parent, by fitness."""
    positive = np.maximum(fitness.astype(np.float64), 1e-12)
    odds: Array = positive / positive.sum()
    return odds


def _within(child: Array, sentence: Array, most: int, random: np.random.Generator) -> Array:
    """A child of two parents may have more changes than either: some at random are taken back."""
    changed = np.flatnonzero(child != sentence)
    if len(changed) > most:
        back = random.choice(changed, len(changed) - most, replace=False)
        child[back] = sentence[back]
    return child
