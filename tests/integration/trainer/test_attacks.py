"""Attacks by foolbox on real Keras and PyTorch models: closed forms, bounds, seeds, budgets, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from deltann_trainer.attack.base import Victim
from deltann_trainer.attack.table import make
from numpy.typing import NDArray
from scipy.special import softmax

from deltann.errors import JobFailure
from deltann.kinds.attack import Boundary, Fgsm, Genetic

RNG = np.random.default_rng(0)
WEIGHTS = RNG.normal(size=(12, 3)).astype(np.float32)
X = RNG.random((40, 12)).astype(np.float32)


def _scores(inputs: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(inputs, np.float32) @ WEIGHTS


Y = _scores(X).argmax(axis=1).astype(np.int64)


def _linear(framework: str, bounds: tuple[float, float] = (0.0, 1.0)) -> Victim:
    """x W in a framework's own layer."""
    if framework == "pytorch":
        import torch

        model = torch.nn.Linear(12, 3, bias=False).eval()
        with torch.no_grad():
            model.weight.copy_(torch.from_numpy(WEIGHTS.T))
        return Victim("pytorch", _scores, model, bounds)
    import keras

    network = keras.Sequential([keras.Input((12,)), keras.layers.Dense(3, use_bias=False)])
    network.set_weights([WEIGHTS])
    return Victim("keras", _scores, network, bounds)


@pytest.mark.parametrize("framework", ["pytorch", "keras"])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-1.0, 1.0)])
def test_fgsm_of_a_linear_model_is_its_closed_form(framework: str, bounds: tuple[float, float]) -> None:
    found = make(Fgsm(epsilon=0.1), _linear(framework, bounds), X, Y, seed=0, budget_seconds=60)
    gradient = (softmax(_scores(X).astype(np.float64), axis=1) - np.eye(3)[Y]) @ WEIGHTS.T.astype(np.float64)
    width = bounds[1] - bounds[0]
    expected = np.clip(X + 0.1 * width * np.sign(gradient), *bounds)
    assert found.tried.all()
    np.testing.assert_allclose(found.inputs, expected, atol=1e-6)
    assert (_scores(found.inputs).argmax(axis=1) != Y).mean() > 0.3


@pytest.mark.parametrize("framework", ["pytorch", "keras"])
def test_boundary_finds_near_inputs_and_is_seeded(framework: str) -> None:
    attack, victim = Boundary(steps=100), _linear(framework)
    found = make(attack, victim, X[:8], Y[:8], seed=3, budget_seconds=120)
    changed = (found.inputs != X[:8]).any(axis=1)
    assert changed.any()
    assert (_scores(found.inputs)[changed].argmax(axis=1) != Y[:8][changed]).all()
    assert found.inputs.min() >= 0
    assert found.inputs.max() <= 1
    again = make(attack, victim, X[:8], Y[:8], seed=3, budget_seconds=120)
    np.testing.assert_array_equal(again.inputs, found.inputs)
    longer = make(Boundary(steps=400), victim, X[:8], Y[:8], seed=3, budget_seconds=120)
    far, near = (np.linalg.norm(one.inputs - X[:8], axis=1)[changed].mean() for one in (found, longer))
    assert near < far


def test_a_budget_that_is_over_leaves_inputs_untried() -> None:
    found = make(Fgsm(epsilon=0.1), _linear("pytorch"), X, Y, seed=0, budget_seconds=0)
    assert not found.tried.any()
    np.testing.assert_array_equal(found.inputs, X)


@pytest.mark.parametrize("attack", [Fgsm(epsilon=0.1), Boundary(steps=2)])
def test_refusals(attack: Fgsm | Boundary) -> None:
    with pytest.raises(JobFailure, match="no Keras and no PyTorch model"):
        make(attack, Victim("other", _scores), X, Y, seed=0, budget_seconds=1)
    with pytest.raises(JobFailure, match="asked of sentences"):
        make(attack, _linear("pytorch"), np.ones((2, 12), np.int32), Y[:2], seed=0, budget_seconds=1)
    with pytest.raises(JobFailure, match="beyond the declared range"):
        make(attack, _linear("pytorch"), X * 255, Y, seed=0, budget_seconds=1)


@pytest.mark.parametrize("epsilon", [0.0, -0.1, 1.5, float("nan")])
def test_epsilon_out_of_range(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        Fgsm(epsilon=epsilon)


def test_more_than_a_quarter_of_the_words_is_refused() -> None:
    with pytest.raises(ValueError, match="changed"):
        Genetic(changed=0.3)
