"""Adversarial attacks on models as they are before a conversion."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from deltann_trainer.attack.attacking import Attacked, Attacking

ATTACKS: dict[str, str] = {
    "fgsm": "deltann_trainer.attack.fgsm:Gradient",
    "boundary": "deltann_trainer.attack.boundary:AlongBoundary",
    "genetic": "deltann_trainer.attack.genetic:Search",
}
"""By kind: what makes it, called with the attack's parameters and its subject."""

__all__ = ["ATTACKS", "Attacked", "Attacking", "made"]


def made(kind: str) -> Callable[..., Attacking]:
    """What makes an attack of that kind; its libraries are imported here."""
    module, _, name = ATTACKS[kind].partition(":")
    found: Callable[..., Attacking] = getattr(import_module(module), name)
    return found
