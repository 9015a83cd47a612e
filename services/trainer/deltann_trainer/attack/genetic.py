"""Black-box genetic attack on sentences: a population of changed sentences, bred by the model's answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax  # type: ignore[import-untyped]

from deltann.data.sentences import PAD, UNKNOWN
from deltann.kinds.attack import Genetic
from deltann_trainer.attack.base import Adversarial, Deadline, Inputs, Labels, Progress, Victim, refused

Tokens = NDArray[np.int32]


def genetic(
    attack: Genetic, victim: Victim, inputs: Inputs, labels: Labels, seed: int, deadline: Deadline
) -> Adversarial:
    """Change tokens int32 [n, length] until the class does.

    Substitutes are the nearest words in the victim's embedding, by the cosine; padding and the unknown word are never
    changed and never put in. Sentences that are too short or too long are not tried.

    Source: Alzantot et al. 2018, "Generating Natural Language Adversarial Examples", algorithm 1; their language model
    and their distance between counter-fitted vectors are left out.
    """
    if np.issubdtype(inputs.dtype, np.floating):
        raise refused("The attack genetic changes words, and was asked of images. Ask for `fgsm` or `boundary` there.")
    if victim.embedding is None:
        raise refused("The attack genetic needs word vectors, and the model has no embedding. Train an LSTM or a GRU.")
    near, progress = _Neighbours(victim.embedding, attack.neighbours), Progress(inputs, deadline)
    for part in progress.batches(1):
        sentence, label = inputs[part][0], int(labels[part.start])
        if not attack.shortest <= int((sentence != PAD).sum()) <= attack.longest:
            continue
        rng = np.random.default_rng([seed, part.start])
        found = _Search(attack, victim, near, sentence, label, rng, deadline).run()
        if found is None:
            progress.over = True
        else:
            progress.keep(part, found[None])
    return progress.adversarial()


class _Neighbours:
    """The nearest words of each token, by the cosine of their vectors; computed when they are asked for."""

    def __init__(self, embedding: NDArray[np.float32], n: int) -> None:
        norms = np.linalg.norm(embedding, axis=1, keepdims=True)
        self._unit = embedding / np.maximum(norms, 1e-12)
        self._n = min(n, len(embedding) - 3)  # without padding, unknown and itself
        self._known: dict[int, NDArray[np.int32]] = {}

    def of(self, token: int) -> NDArray[np.int32]:
        """Tokens, the nearest first."""
        if token not in self._known:
            cosines = self._unit @ self._unit[token]
            cosines[[PAD, UNKNOWN, token]] = -np.inf
            self._known[token] = np.argsort(-cosines, kind="stable")[: max(self._n, 0)].astype(np.int32)
        return self._known[token]


class _Search:
    """The search for one sentence."""

    def __init__(
        self,
        attack: Genetic,
        victim: Victim,
        near: _Neighbours,
        sentence: Tokens,
        label: int,
        rng: np.random.Generator,
        deadline: Deadline,
    ) -> None:
        self._attack, self._victim, self._near = attack, victim, near
        self._sentence, self._label, self._rng, self._deadline = sentence, label, rng, deadline
        self._places = np.flatnonzero((sentence != PAD) & (sentence != UNKNOWN))
        self._most = int(attack.changed * int((sentence != PAD).sum()))

    def run(self) -> Tokens | None:
        """The first sentence found that is classed otherwise, else the unchanged one; None where the budget ended."""
        if not self._most or not len(self._places):
            return self._sentence
        members = np.stack([self._perturbed(self._sentence) for _ in range(self._attack.population)])
        for _ in range(self._attack.generations):
            scores = self._victim.predict(members)
            away = np.flatnonzero(np.argmax(scores, axis=1) != self._label)
            if len(away):
                found: Tokens = members[away[0]]
                return found
            if self._deadline.over:
                return None
            members = self._bred(members, 1 - softmax(scores.astype(np.float64), axis=1)[:, self._label])
        return self._sentence

    def _bred(self, members: Tokens, fitness: NDArray[np.float64]) -> Tokens:
        """The fittest, and children of parents drawn by their fitness."""
        shares = (fitness + 1e-12) / (fitness + 1e-12).sum()
        children = [members[int(np.argmax(fitness))]]
        while len(children) < len(members):
            one, other = self._rng.choice(len(members), 2, p=shares)
            mixed = np.where(self._rng.random(len(self._sentence)) < 0.5, members[one], members[other])
            children.append(self._perturbed(self._within(mixed)))
        return np.stack(children).astype(np.int32)

    def _within(self, child: Tokens) -> Tokens:
        """A child of two may have more changes than either: some are taken back."""
        changed = np.flatnonzero(child != self._sentence)
        if len(changed) > self._most:
            back = self._rng.choice(changed, len(changed) - self._most, replace=False)
            child[back] = self._sentence[back]
        return child

    def _perturbed(self, member: Tokens) -> Tokens:
        """A member with one word replaced by that neighbour which the model's answer falls furthest for."""
        changed = np.flatnonzero(member != self._sentence)
        places = self._places if len(changed) < self._most else changed
        place = int(self._rng.choice(places))
        substitutes = self._near.of(int(self._sentence[place]))
        if not len(substitutes):
            return member
        tried = np.repeat(member[None], len(substitutes), axis=0)
        tried[:, place] = substitutes
        scores = softmax(self._victim.predict(tried).astype(np.float64), axis=1)
        best: Tokens = tried[int(np.argmin(scores[:, self._label]))]
        return best
