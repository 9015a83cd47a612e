"""Attack jobs on real Keras and PyTorch models: closed forms, bounds, seeds, budgets, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deltann_engines.describe import describe
from deltann_trainer.attack.job import attack
from deltann_trainer.attack.subject import photo_range
from jobs import Trainer
from numpy.typing import NDArray
from scipy.special import softmax

from deltann.errors import JobFailure
from deltann.job import Job, JobResult
from deltann.kinds.attack import AttackData, AttackParams, Boundary, Fgsm, Genetic
from deltann.model import ModelInfo
from deltann.outcome import Outcome
from deltann.preprocess.steps import Normalise, Recipe, Resize
from deltann.service import JobContext, Produced

RNG = np.random.default_rng(0)
WEIGHTS = RNG.normal(size=(12, 3)).astype(np.float32)
X = RNG.random((40, 2, 2, 3)).astype(np.float32)


def _scores(inputs: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(inputs, np.float32).reshape(len(inputs), -1) @ WEIGHTS


Y = _scores(X).argmax(axis=1).astype(np.int64)


@pytest.fixture(scope="module", params=["keras", "pytorch"])
def linear(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ModelInfo]:
    """x W of the values of an image, in a framework's own format."""
    folder = tmp_path_factory.mktemp("linear")
    if request.param == "keras":
        import keras

        network = keras.Sequential(
            [keras.Input((2, 2, 3)), keras.layers.Flatten(), keras.layers.Dense(3, use_bias=False)]
        )
        network.set_weights([WEIGHTS])
        path = folder / "linear.keras"
        network.save(path)
        return path, describe(path, "keras", output="logits", class_offset=0)
    import torch

    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 3, bias=False)).eval()
    with torch.no_grad():
        ordered = WEIGHTS.reshape(2, 2, 3, 3).transpose(2, 0, 1, 3).reshape(12, 3)  # channels first
        module[1].weight.copy_(torch.from_numpy(ordered.T.copy()))
    shapes = {"input": {0: torch.export.Dim("batch", min=1, max=1024)}}
    program = torch.export.export(module, (torch.zeros(2, 3, 2, 2),), dynamic_shapes=tuple(shapes.values()))
    path = folder / "linear.pt2"
    torch.export.save(program, path)
    return path, describe(path, "pt2", output="logits", class_offset=0)


def attacked(
    trainer: Trainer, linear: tuple[Path, ModelInfo], x: np.ndarray = X, said: np.ndarray = Y, **wanted: Any
) -> tuple[AttackData, dict[str, np.ndarray], Produced]:
    """What a job makes of a model that is recorded to have said these labels."""
    data = trainer.data(x, Y)
    answers = trainer.folder / "answers.npz"
    np.savez(answers, labels=said[:, None].astype(np.int32), valid=np.ones(len(said), bool))
    executed = JobResult(
        kind="execute", result_key="a", outcome=Outcome.OK, artifacts={"outputs": trainer.store.put_path(answers)}
    )
    params = AttackParams.model_validate(
        {"attack": wanted, "info": linear[1].model_dump(), "recipe": {"name": "none"}, "answers": 1}
    )
    job = Job(
        index=0, kind="attack", params=params.model_dump(mode="json"), queue="trainer", job_id="j",
        sources={"model": trainer.store.put_path(linear[0]), "manifest": data.artifacts["manifest"]},
    )  # fmt: skip
    workdir = trainer.folder / f"attack-{len(list(trainer.folder.iterdir()))}"
    workdir.mkdir()
    context = JobContext(
        store=trainer.store, sweep="s", job=job, inputs={"outputs0": executed}, workdir=workdir,
        cache=trainer.folder / "cache",
    )  # fmt: skip
    made = attack(params, context)
    assert isinstance(made.data, AttackData)
    path = trainer.store.materialise(made.artifacts["shard"], trainer.folder / "cache")
    with np.load(path, allow_pickle=False) as file:
        return made.data, {name: file[name] for name in file.files}, made


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-1.0, 1.0)])
def test_fgsm_of_a_linear_model_is_its_closed_form(
    trainer: Trainer, linear: tuple[Path, ModelInfo], bounds: tuple[float, float]
) -> None:
    data, found, _ = attacked(trainer, linear, kind="fgsm", epsilon=0.1, bounds=bounds)
    gradient = (softmax(_scores(X).astype(np.float64), axis=1) - np.eye(3)[Y]) @ WEIGHTS.T.astype(np.float64)
    expected = np.clip(X + 0.1 * (bounds[1] - bounds[0]) * np.sign(gradient).reshape(X.shape), *bounds)
    np.testing.assert_allclose(found["x"], expected, atol=1e-6)
    assert (found["rows"] == np.arange(40)).all()
    assert (found["y"] == Y).all()
    assert (data.n, data.asked, data.unfinished) == (40, 40, 0)
    assert data.fooled == (_scores(found["x"]).argmax(axis=1) != Y).sum() > 10
    assert data.linf == pytest.approx(0.1, abs=1e-6)


def test_boundary_finds_near_inputs_and_is_seeded(trainer: Trainer, linear: tuple[Path, ModelInfo]) -> None:
    data, found, made = attacked(trainer, linear, kind="boundary", steps=100, inputs=6, seed=3)
    assert data.n > 3
    assert (_scores(found["x"]).argmax(axis=1) != found["y"]).all()
    assert 0 <= found["x"].min() <= found["x"].max() <= 1
    again = attacked(trainer, linear, kind="boundary", steps=100, inputs=6, seed=3)[2]
    assert again.artifacts["shard"].digest == made.artifacts["shard"].digest
    longer, _, _ = attacked(trainer, linear, kind="boundary", steps=400, inputs=6, seed=3)
    assert longer.l2 is not None
    assert data.l2 is not None
    assert longer.l2 < data.l2


def test_what_was_wrong_before_is_never_attacked(trainer: Trainer, linear: tuple[Path, ModelInfo]) -> None:
    said = Y.copy()
    said[::2] = (Y[::2] + 1) % 3
    data, found, _ = attacked(trainer, linear, said=said, kind="fgsm", epsilon=0.1, inputs=15)
    assert (data.right, data.asked, data.n) == (20, 15, 15)
    assert (found["rows"] % 2 == 1).all()


def test_a_budget_that_runs_out_keeps_what_was_done(trainer: Trainer, linear: tuple[Path, ModelInfo]) -> None:
    data, found, _ = attacked(trainer, linear, kind="boundary", steps=3000, budget_seconds=8)
    assert 0 < data.n == len(found["x"])
    assert data.unfinished == 40 - data.n - data.impossible > 0
    with pytest.raises(JobFailure, match="spent before a single input"):
        attacked(trainer, linear, kind="boundary", steps=10, budget_seconds=1e-9)


def test_refusals(trainer: Trainer, linear: tuple[Path, ModelInfo]) -> None:
    with pytest.raises(JobFailure, match="classifies none of them rightly"):
        attacked(trainer, linear, said=(Y + 1) % 3, kind="fgsm", epsilon=0.1)
    with pytest.raises(JobFailure, match="beyond the attack's bounds 0 to 1"):
        attacked(trainer, linear, x=X * 255, kind="fgsm", epsilon=0.1)


@pytest.mark.parametrize("epsilon", [0.0, -0.1, 1.5, float("nan")])
def test_epsilon_out_of_range(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        Fgsm(epsilon=epsilon)


@pytest.mark.parametrize(("kind", "wrong"), [(Boundary, {"steps": 0}), (Genetic, {"changed": 0.3}),
                                             (Genetic, {"inputs": 1001})])  # fmt: skip
def test_parameters_out_of_range(kind: Any, wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        kind(**wrong)


def test_photos_range_from_black_to_white() -> None:
    recipe = Recipe(name="r", steps=(Resize(height=4, width=4), Normalise(mean=(100, 120, 127.5), std=(50, 60, 127.5))))
    values = photo_range(recipe)
    np.testing.assert_allclose(values.low, [-2, -2, -1])
    np.testing.assert_allclose(values.high, [3.1, 2.25, 1])
    np.testing.assert_allclose(values.share(values.value(np.full((1, 1, 1, 3), 0.25))), 0.25, atol=1e-6)
