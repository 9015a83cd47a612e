"""The table of attacks."""

from __future__ import annotations

from deltann.kinds.attack import Attack
from deltann_trainer.attack.base import Adversarial, Attacking, Deadline, Inputs, Labels, Victim
from deltann_trainer.attack.boundary import boundary
from deltann_trainer.attack.fgsm import fgsm
from deltann_trainer.attack.genetic import genetic

ATTACKS: dict[str, Attacking] = {"fgsm": fgsm, "boundary": boundary, "genetic": genetic}


def make(
    attack: Attack, victim: Victim, inputs: Inputs, labels: Labels, *, seed: int, budget_seconds: float
) -> Adversarial:
    """Attack inputs that the victim classifies rightly.

    Args:
        attack: which, with its parameters.
        victim: the model before conversion.
        inputs: float32 [n, …] in the victim's bounds, or tokens int32 [n, length].
        labels: int64 [n], the right classes.
        seed: of everything that is drawn.
        budget_seconds: after these nothing more is begun; what is done by then is kept.

    Raises:
        JobFailure: ``run_failed`` where the attack is not one for this model or these inputs.
    """
    return ATTACKS[attack.kind](attack, victim, inputs, labels, seed, Deadline(budget_seconds))
