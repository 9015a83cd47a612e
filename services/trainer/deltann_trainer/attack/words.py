"""Words as tokens: how many a sentence has, and which are near each other."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from deltann_trainer.attack.attacking import Array

FEWEST_WORDS, MOST_WORDS = 10, 100
"""Sentences that are attacked."""

PADDING, OTHER = 0, 1
"""Tokens that are no words: nothing, and any word that is out of the vocabulary."""


def lengths(tokens: Array) -> NDArray[np.int64]:
    """int64 [n]: the words of sentences [n, length], those out of the vocabulary as well."""
    found: NDArray[np.int64] = (tokens != PADDING).sum(axis=1).astype(np.int64)
    return found


class Neighbours:
    """The nearest words by Euclidean distance of their vectors.

    Args:
        vectors: float [tokens, dimensions].
        known: tokens that are words of the vocabulary; no other has neighbours or is one.
        count: of neighbours at most.
    """

    def __init__(self, vectors: Array, known: Collection[int], count: int) -> None:
        self._vectors = vectors
        self._known = np.array(sorted(set(known) - {PADDING, OTHER}), np.int64)
        self._known = self._known[self._known < len(vectors)]
        self._set = set(self._known.tolist())
        self._count = count
        self._found: dict[int, NDArray[np.int64]] = {}

    def of(self, token: int) -> NDArray[np.int64]:
        """The nearest first, ties by the lower token, itself left out; none for what is no known word."""
        if token not in self._found:
            self._found[token] = self._nearest(token) if token in self._set else np.empty(0, np.int64)
        return self._found[token]

    def _nearest(self, token: int) -> NDArray[np.int64]:
        apart = np.linalg.norm(self._vectors[self._known] - self._vectors[token], axis=1)
        near = self._known[np.argsort(apart, kind="stable")]
        return np.asarray(near[near != token][: self._count])
