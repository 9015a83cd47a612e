"""FGSM by the gradient of the original model, through foolbox."""

from __future__ import annotations

from deltann.kinds.attack import Fgsm
from deltann_trainer.attack.base import Adversarial, Deadline, Inputs, Labels, Progress, Victim
from deltann_trainer.attack.images import Framed, check_images

_BATCH = 64


def fgsm(attack: Fgsm, victim: Victim, inputs: Inputs, labels: Labels, seed: int, deadline: Deadline) -> Adversarial:
    """clip(x + ε (high − low) · sign(∂ cross-entropy(x, y) / ∂x)) for float32 inputs [n, …]; nothing is drawn."""
    from foolbox.attacks import LinfFastGradientAttack

    check_images(inputs, victim, "fgsm")
    framed, progress = Framed(victim, "fgsm"), Progress(inputs, deadline)
    low, high = victim.bounds
    method = LinfFastGradientAttack(random_start=False)
    for part in progress.batches(_BATCH):
        x, y = framed.tensors(inputs[part], labels[part])
        _, changed, _ = method(framed.model, x, y, epsilons=attack.epsilon * (high - low))
        progress.keep(part, changed.numpy())
    return progress.adversarial()
