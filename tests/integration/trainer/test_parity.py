"""One description, two frameworks: the same function for the same weights, and the same step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from deltann_trainer.learner import Learner, learner

from deltann.kinds.train import Adam, Sgd
from deltann.networks import NETWORKS, Network, TokenInput
from deltann.networks.initial import initial
from deltann.networks.parameters import parameters

FRAMEWORKS = ("keras", "pytorch")


def batch(network: Network, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    shape = (n, *network.input.shape)
    y = random.integers(0, network.classes, n)
    if isinstance(network.input, TokenInput):
        return random.integers(0, network.input.vocabulary, shape).astype(np.int32), y
    return random.random(shape, np.float32), y


def both(network: Network, optimiser: Any, seed: int = 3) -> dict[str, Learner]:
    made = {framework: learner(framework, network, optimiser) for framework in FRAMEWORKS}
    for one in made.values():
        one.load(initial(network, seed))
    return made


@pytest.mark.parametrize("name", NETWORKS)
def test_weights_are_carried_there_and_back_unchanged(name: str) -> None:
    network = NETWORKS[name]
    weights = initial(network, 5)
    for one in both(network, Sgd(), 5).values():
        back = one.weights()
        assert back.keys() == weights.keys()
        assert all(np.array_equal(back[key], weights[key]) for key in weights)


def smooth(network: Network) -> Network:
    """The same network with tanh for ReLU and means for maxima: at their kinks rounding decides where gradients go."""
    text = network.model_dump_json()
    return Network.model_validate_json(text.replace('"relu"', '"tanh"').replace('"max"', '"average"'))


@pytest.mark.parametrize(("kinks", "apart"), [(True, 2e-2), (False, 1e-3)], ids=["as it is", "smooth"])
@pytest.mark.parametrize("name", NETWORKS)
def test_the_same_weights_give_the_same_answers_and_the_same_step(name: str, kinks: bool, apart: float) -> None:
    """The step of each weight is compared by its length; rounding alone moves those of 18 layers by some 1e-4."""
    network = NETWORKS[name] if kinks else smooth(NETWORKS[name])
    x, y = batch(network, 6)
    made = both(network, Sgd())
    before = {framework: one.logits(x) for framework, one in made.items()}
    scale = np.abs(before["keras"]).max()
    assert np.abs(before["keras"] - before["pytorch"]).max() < 1e-5 * scale
    scores = {framework: one.step(x, y, 0.01) for framework, one in made.items()}
    assert scores["keras"].loss == pytest.approx(scores["pytorch"].loss, rel=1e-5)
    assert scores["keras"].right == scores["pytorch"].right
    begun, after = initial(network, 3), {framework: one.weights() for framework, one in made.items()}
    for one in parameters(network):
        if one.trained or one.name.endswith("mean"):
            step = np.linalg.norm(after["keras"][one.name] - begun[one.name])
            difference = np.linalg.norm(after["keras"][one.name] - after["pytorch"][one.name])
            assert step > 0, one.name
            assert difference <= apart * step, one.name


def test_a_batch_norm_s_moving_variance_differs_by_bessel_s_correction() -> None:
    network = NETWORKS["vgg16"]
    x, y = batch(network, 2)
    made = both(network, Sgd())
    for one in made.values():
        one.step(x, y, 0.0)
    first = "1.variance"
    n = 2 * 32 * 32
    keras, pytorch = (made[framework].weights()[first] - 0.9 for framework in FRAMEWORKS)
    assert np.allclose(pytorch, keras * n / (n - 1), rtol=1e-5)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize(
    "optimiser", [Sgd(learning_rate=0.5, momentum=0.9), Adam(learning_rate=0.1, epsilon=1e-12)], ids=["sgd", "adam"]
)
def test_two_steps_of_a_linear_network_are_as_computed_by_hand(framework: Any, optimiser: Any) -> None:
    network = Network.model_validate(
        {
            "name": "linear",
            "input": {"kind": "image", "height": 1, "width": 2, "channels": 1},
            "layers": [{"op": "flatten"}, {"op": "dense", "units": 2}],
        }
    )
    one = learner(framework, network, optimiser)
    kernel, bias = np.array([[0.1, -0.2], [0.3, 0.4]], np.float32), np.array([0.0, 0.1], np.float32)
    one.load({"1.kernel": kernel, "1.bias": bias})
    x, y = np.array([[[[1.0], [2.0]]], [[[-1.0], [0.5]]]], np.float32), np.array([0, 1])
    expected, memory = [kernel.astype(np.float64), bias.astype(np.float64)], [(0.0, 0.0), (0.0, 0.0)]
    for step in (1, 2):
        score = one.step(x, y, optimiser.learning_rate)
        flat = x.reshape(2, 2).astype(np.float64)
        logits = flat @ expected[0] + expected[1]
        probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        assert score.loss == pytest.approx(-np.log(probabilities[[0, 1], y]).sum(), rel=1e-5)
        slope = (probabilities - np.eye(2)[y]) / 2
        for place, gradient in enumerate((flat.T @ slope, slope.sum(axis=0))):
            expected[place], memory[place] = stepped(optimiser, expected[place], gradient, memory[place], step)
    found = one.weights()
    assert np.allclose(found["1.kernel"], expected[0], rtol=1e-5, atol=1e-6)
    assert np.allclose(found["1.bias"], expected[1], rtol=1e-5, atol=1e-6)


def stepped(optimiser: Any, weight: Any, gradient: Any, memory: Any, step: int) -> Any:
    """The textbook's formula."""
    rate = optimiser.learning_rate
    if isinstance(optimiser, Sgd):
        velocity = optimiser.momentum * memory[0] + gradient
        return weight - rate * velocity, (velocity, 0.0)
    first = optimiser.beta1 * memory[0] + (1 - optimiser.beta1) * gradient
    second = optimiser.beta2 * memory[1] + (1 - optimiser.beta2) * gradient**2
    scaled = first / (1 - optimiser.beta1**step), second / (1 - optimiser.beta2**step)
    return weight - rate * scaled[0] / (np.sqrt(scaled[1]) + optimiser.epsilon), (first, second)
