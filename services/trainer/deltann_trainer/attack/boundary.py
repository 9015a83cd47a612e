"""Boundary Attack through foolbox: begun from noise that is classed otherwise, for those inputs where some is found."""

from __future__ import annotations

import numpy as np

from deltann.kinds.attack import Boundary
from deltann_trainer.attack.base import Adversarial, Deadline, Inputs, Labels, Progress, Victim
from deltann_trainer.attack.images import Framed, check_images

_BATCH = 8


def boundary(
    attack: Boundary, victim: Victim, inputs: Inputs, labels: Labels, seed: int, deadline: Deadline
) -> Adversarial:
    """Walk from noise towards float32 inputs [n, …], ``steps`` steps.

    An input is unchanged where no noise blended into it is classed otherwise: the attack failed on it.
    """
    from foolbox.attacks import BoundaryAttack, LinearSearchBlendedUniformNoiseAttack

    check_images(inputs, victim, "boundary")
    framed, progress = Framed(victim, "boundary"), Progress(inputs, deadline)
    begin = LinearSearchBlendedUniformNoiseAttack(steps=50)
    method = BoundaryAttack(steps=attack.steps, tensorboard=False)
    for part in progress.batches(_BATCH):
        framed.seed(seed + part.start)
        x, y = framed.tensors(inputs[part], labels[part])
        starts = begin.run(framed.model, x, y).numpy()
        found = np.argmax(victim.predict(starts), axis=1) != labels[part]
        changed = np.array(inputs[part], np.float32)
        if found.any():
            x, y = framed.tensors(inputs[part][found], labels[part][found])
            walked, _ = framed.tensors(starts[found], labels[part][found])
            changed[found] = method.run(framed.model, x, y, starting_points=walked).numpy()
        progress.keep(part, changed)
    return progress.adversarial()
