"""Training jobs: what they learn, what they leave, and how they go on where a worker was killed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from deltann_engines.base import load
from deltann_trainer import train as training
from jobs import Trainer, digits, trained

from deltann.errors import JobFailure
from deltann.model import ENGINE_OF

FRAMEWORKS = ("keras", "pytorch")
FIT: dict[str, Any] = {"epochs": 3, "batch": 32, "optimiser": {"kind": "sgd", "learning_rate": 0.05}}


def answers(trainer: Trainer, produced: Any, x: np.ndarray) -> np.ndarray:
    """What the stored model says in its engine, as any other part of DeltaNN runs it."""
    info = trained(produced).info
    own = x.transpose(0, 3, 1, 2) if info.input.layout == "NCHW" else x
    with load(ENGINE_OF[info.framework], trainer.path(produced), info) as session:
        return session.run(np.ascontiguousarray(own))


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_it_learns_and_its_model_answers_rightly_in_its_own_engine(trainer: Trainer, framework: str) -> None:
    x, y = digits(400)
    produced = trainer.run(framework, trainer.data(x, y), **FIT)
    found = trained(produced)
    assert [epoch.learning_rate for epoch in found.curves] == [0.05] * 3
    assert found.curves[-1].loss < found.curves[0].loss / 2
    assert found.curves[-1].validation_accuracy > 0.9
    assert (found.n, found.resumed) == (360, 0)
    assert found.memory_peak_bytes > 100 << 20
    assert found.info.format == ("keras" if framework == "keras" else "pt2")
    assert (found.info.input.shape[0], found.info.output_kind, found.info.classes) == (None, "logits", 10)
    new, truth = digits(100, seed=9)
    assert (answers(trainer, produced, new).argmax(axis=1) == truth).mean() > 0.9


def test_the_same_configuration_learns_the_same_in_both_frameworks(trainer: Trainer) -> None:
    x, y = digits(200)
    data = trainer.data(x, y)
    keras, pytorch = (trainer.run(framework, data, **FIT) for framework in FRAMEWORKS)
    for one, two in zip(trained(keras).curves, trained(pytorch).curves, strict=True):
        assert one.loss == pytest.approx(two.loss, rel=1e-3)
        assert one.accuracy == pytest.approx(two.accuracy, abs=0.02)
    new, _ = digits(50, seed=9)
    assert np.abs(answers(trainer, keras, new) - answers(trainer, pytorch, new)).max() < 1e-2


class Killed(BaseException):
    """What no handler catches."""


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_taken_up_from_its_checkpoint_it_ends_as_if_it_had_not_been_killed(
    trainer: Trainer, monkeypatch: pytest.MonkeyPatch, framework: str, optimiser: str
) -> None:
    x, y = digits(200)
    fit = FIT | {"optimiser": {"kind": optimiser, "learning_rate": 0.01}, "schedule": {"kind": "cosine"}}
    data = trainer.data(x, y)
    whole = trainer.run(framework, data, **fit)
    run_epoch = training.run_epoch

    def dies(*arguments: Any) -> Any:
        if arguments[-1] == 2:
            raise Killed
        return run_epoch(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(training, "run_epoch", dies)
        with pytest.raises(Killed):
            trainer.run(framework, data, **fit)
    left = list(trainer.store.list("checkpoints/"))
    assert len(left) == 2  # the last checkpoint, and what points to it
    resumed = trainer.run(framework, data, **fit)
    assert (trained(resumed).resumed, trained(whole).resumed) == (2, 0)
    losses = [[epoch.loss for epoch in trained(one).curves] for one in (whole, resumed)]
    assert losses[0] == losses[1]
    assert np.array_equal(answers(trainer, whole, x[:20]), answers(trainer, resumed, x[:20]))
    assert not list(trainer.store.list("checkpoints/"))


def test_a_checkpoint_of_another_training_or_a_torn_one_is_not_taken(
    trainer: Trainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = digits(100)
    data = trainer.data(x, y)
    run_epoch = training.run_epoch

    def dies(*arguments: Any) -> Any:
        if arguments[-1] == 1:
            raise Killed
        return run_epoch(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(training, "run_epoch", dies)
        with pytest.raises(Killed):
            trainer.run("pytorch", data, **FIT)
    assert trained(trainer.run("pytorch", data, seed=2, **FIT)).resumed == 0
    (state,) = [key for key in trainer.store.list("checkpoints/") if not key.endswith("/last")]
    trainer.store.put(state, b"torn")
    assert trained(trainer.run("pytorch", data, **FIT)).resumed == 0


def test_tokens_are_learnt_too(trainer: Trainer) -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    x = random.integers(2, 5000, (300, 40)).astype(np.int32)
    x[:, 35:] = 2 + y[:, None]
    fit = {"epochs": 4, "batch": 32, "optimiser": {"kind": "adam", "learning_rate": 0.01}}
    for framework in FRAMEWORKS:
        produced = trainer.run(framework, trainer.data(x, y, "tokens"), network="gru", **fit)
        assert trained(produced).info.input.dtype == "int32"
        assert trained(produced).curves[-1].validation_accuracy > 0.9
        info = trained(produced).info
        with load(ENGINE_OF[info.framework], trainer.path(produced), info) as session:
            assert (session.run(x[:50]).argmax(axis=1) == y[:50]).mean() > 0.9


@pytest.mark.parametrize(
    ("shape", "label", "says"),
    [
        ((28, 28, 1), 10, r"1 of the 8 inputs have no label that lenet5 has a class for \(it has 10\)"),
        ((28, 28, 1), -1, "1 of the 8 inputs have no label"),
        ((28, 28, 3), 0, r"lenet5 is trained on inputs of \[28, 28, 1\].*has \[28, 28, 3\]"),
    ],
)
def test_data_that_it_cannot_be_trained_on_is_said_in_a_paragraph(
    trainer: Trainer, shape: tuple[int, ...], label: int, says: str
) -> None:
    y = np.zeros(8, int)
    y[3] = label
    with pytest.raises(JobFailure, match=says) as caught:
        trainer.run("pytorch", trainer.data(np.zeros((8, *shape), np.float32), y), **FIT)
    assert "\n" not in caught.value.message


def test_a_loss_that_is_no_number_is_null_and_the_training_goes_on(trainer: Trainer) -> None:
    x, y = digits(64)
    fit = FIT | {"optimiser": {"kind": "sgd", "learning_rate": 900.0}, "epochs": 2}
    curves = trained(trainer.run("pytorch", trainer.data(x * 1e4, y), **fit)).curves
    assert [epoch.loss for epoch in curves][-1] is None
