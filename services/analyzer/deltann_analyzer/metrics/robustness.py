"""What an attack does to a model and to what it was converted into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.integer]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class UnderAttack:
    """Shares 0..1 over the ``n`` inputs that were tried and right before in original and converted; null for none.

    ``success_before`` and ``success_after`` are of the original and the converted model, ``misclassification`` is the
    share of adversarial inputs that the two class differently, ``abs_error`` the mean |a − b| of their outputs on the
    adversarial inputs. ``left_out`` inputs were wrong before in one of them; ``not_tried`` were right and not attacked.
    """

    n: int
    left_out: int
    not_tried: int
    success_before: float | None
    success_after: float | None
    misclassification: float | None
    abs_error: float | None


def under_attack(
    classes: Labels,
    clean: tuple[Labels, Labels],
    attacked: tuple[Labels, Labels],
    outputs: tuple[NDArray[np.floating], NDArray[np.floating]],
    tried: Mask,
) -> UnderAttack:
    """Measure one attack on an original and a converted model; in pairs the original comes first.

    Args:
        classes: [n], the right ones.
        clean: labels [n] on the inputs before the attack.
        attacked: labels [n] on the adversarial inputs.
        outputs: [n, C] of both on the adversarial inputs, in one space.
        tried: bool [n], what the attack came to within its budget.
    """
    right = (clean[0] == classes) & (clean[1] == classes)
    counted = right & tried
    n = int(counted.sum())

    def share(mask: Mask) -> float | None:
        return float(mask[counted].mean()) if n else None

    difference = np.abs(outputs[0][counted].astype(np.float64) - outputs[1][counted])
    return UnderAttack(
        n=n,
        left_out=int((~right).sum()),
        not_tried=int((right & ~tried).sum()),
        success_before=share(attacked[0] != classes),
        success_after=share(attacked[1] != classes),
        misclassification=share(attacked[0] != attacked[1]),
        abs_error=float(difference.mean()) if n and difference.size else None,
    )


def local_robustness(label: int, near: Labels) -> float:
    """Empirical d-local robustness of one input: the share of inputs drawn within d of it that keep its label.

    Args:
        label: the model's own label of the input.
        near: [m] its labels of m inputs drawn within the distance d.

    Raises:
        ValueError: where none was drawn.
    """
    if not len(near):
        raise ValueError("a share of no inputs")
    return float((near == label).mean())


def indicator(rates: Mapping[str, Mapping[str, tuple[float, float]]]) -> dict[str, float]:
    """R of a conversion, for every model: how far it changed what attacks achieve, beside the other models.

    For attacks a and models m with mean success rates s before and s′ after the conversion,

        D(a, m) = |s(a, m) − s′(a, m)|,
        R(m) = Σ_a (D(a, m) − min_m D(a, ·)) / (max_m D(a, ·) − min_m D(a, ·)),

    so that 0 ≤ R ≤ the number of attacks; 0 is the model least changed by every attack, which with one model, or with
    differences that are all the same (a constant column), is each of them.

    Source: "An Empirical Study of Challenges in Converting Deep Learning Models", robustness of converted models.

    Args:
        rates: by attack, by model: the mean success rates before and after. A model that lacks an attack gets nothing
            for it.
    """
    found: dict[str, float] = {}
    for by_model in rates.values():
        differences = {model: abs(before - after) for model, (before, after) in by_model.items()}
        low, high = min(differences.values(), default=0.0), max(differences.values(), default=0.0)
        for model, difference in differences.items():
            part = (difference - low) / (high - low) if high > low else 0.0
            found[model] = found.get(model, 0.0) + part
    return found
