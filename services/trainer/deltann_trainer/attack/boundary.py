"""Boundary Attack, by foolbox, on a model of any framework: it asks for labels alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from deltann.kinds.attack import Boundary
from deltann_trainer.attack.attacking import Array, Attacked, Clock
from deltann_trainer.attack.subject import Subject


class AlongBoundary:
    """From a blend with noise that is misjudged, along the boundary towards the input (Brendel et al. 2018)."""

    batch = 1
    """Inputs of one batch would share random numbers, and the set would depend on who was in it."""

    def __init__(self, wanted: Boundary, subject: Subject) -> None:
        self._steps, self._subject = wanted.steps, subject

    def attack(self, x: Array, y: Array, seeds: list[list[int]], clock: Clock) -> Attacked:
        """Attack an input. One for which no noise is misjudged cannot be attacked."""
        import foolbox
        from foolbox.attacks import BoundaryAttack, LinearSearchBlendedUniformNoiseAttack

        def outputs(shares: Array) -> Any:
            clock.look()
            return self._subject.outputs(shares)

        np.random.seed(np.random.SeedSequence(seeds[0]).generate_state(1)[0])  # foolbox draws from it
        given = x.astype(np.float32)
        model = foolbox.NumPyModel(outputs, bounds=(0, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = LinearSearchBlendedUniformNoiseAttack(steps=50).run(model, given, foolbox.Misclassification(y))
        if bool((outputs(start).argmax(axis=1) == y).any()):
            return Attacked(given, np.zeros(len(x), np.bool_))
        criterion = foolbox.Misclassification(y)
        moved = BoundaryAttack(steps=self._steps).run(model, given, criterion, starting_points=start)
        return Attacked(np.asarray(moved), np.ones(len(x), np.bool_))
