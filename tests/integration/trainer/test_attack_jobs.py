"""Attack jobs on LeNet-5 as it was trained in either framework."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from deltann_trainer.attack.job import attack
from jobs import Trainer, digits, trained

from deltann.errors import JobFailure
from deltann.job import Job, JobResult
from deltann.kinds.attack import AttackData, AttackParams
from deltann.outcome import Outcome
from deltann.service import JobContext, Produced

FIT: dict[str, Any] = {"epochs": 3, "batch": 32, "optimiser": {"kind": "sgd", "learning_rate": 0.05}}


def attacked(
    trainer: Trainer, model: Produced, x: np.ndarray, y: np.ndarray, labels: np.ndarray, **params: Any
) -> Produced:
    """What an attack job makes, where something that it was converted into gave these labels."""
    path = trainer.folder / "answers.npz"
    np.savez(path, labels=labels[:, None].astype(np.int32))
    answers = JobResult(
        kind="execute", result_key="a", outcome=Outcome.OK, artifacts={"outputs": trainer.store.put_path(path)}, data={}
    )
    wanted = AttackParams.model_validate(
        {
            "attack": {"kind": "fgsm", "epsilon": 0.2},
            "recipe": {"name": "none"},
            "bounds": (0, 1),
            "answers": [{"role": "converted", "start": 0, "stop": len(y)}],
            "info": trained(model).info.model_dump(mode="json"),
            **params,
        }
    )
    job = Job(
        index=0,
        kind="attack",
        params=wanted.model_dump(mode="json"),
        queue="trainer",
        job_id="j",
        sources={"model": model.artifacts["model"]},
    )
    workdir = trainer.folder / f"attack-{len(list(trainer.folder.iterdir()))}"
    workdir.mkdir()
    inputs = {"data": trainer.data(x, y), "converted": answers}
    context = JobContext(
        store=trainer.store, sweep="s", job=job, inputs=inputs, workdir=workdir, cache=trainer.folder / "cache"
    )
    return attack(wanted, context)


@pytest.mark.parametrize("framework", ["keras", "pytorch"])
def test_a_set_of_inputs_that_all_classified_rightly(trainer: Trainer, framework: str) -> None:
    x, y = digits(400)
    x = x.clip(0, 1)
    model = trainer.run(framework, trainer.data(x, y), **FIT)
    wrong_after = y.copy()
    wrong_after[::2] = (y[::2] + 1) % 10  # every other one is wrong in what it was converted into
    made = attacked(trainer, model, x, y, wrong_after, n=50)
    data = made.data
    assert isinstance(data, AttackData)
    assert (data.right, data.n, data.tried, data.over) == (200, 50, 50, False)
    with np.load(
        trainer.store.materialise(made.artifacts["set"], trainer.folder / "cache"), allow_pickle=False
    ) as found:
        assert (found["positions"] % 2 == 1).all()
        assert np.array_equal(found["labels"], y[found["positions"]])
        assert np.array_equal(found["clean"], x[found["positions"]])
        assert np.abs(found["inputs"] - found["clean"]).max() == pytest.approx(0.2, abs=1e-6)
        shard = np.load(trainer.store.materialise(made.artifacts["shard"], trainer.folder / "cache"))
        assert np.array_equal(shard, found["inputs"])
    again = attacked(trainer, model, x, y, wrong_after, n=50)
    assert again.artifacts["set"].digest == made.artifacts["set"].digest


def test_refusals(trainer: Trainer) -> None:
    x, y = digits(60)
    x = x.clip(0, 1)
    model = trainer.run("pytorch", trainer.data(x, y), **{**FIT, "epochs": 1})
    with pytest.raises(JobFailure, match="nothing to attack"):
        attacked(trainer, model, x, y, (y + 1) % 10)
    onnx = trained(model).info.model_copy(update={"format": "onnx"}).model_dump(mode="json")
    with pytest.raises(JobFailure, match="no gradients"):
        attacked(trainer, model, x, y, y, info=onnx)
    with pytest.raises(JobFailure, match="no embedding|asked of images"):
        attacked(trainer, model, x, y, y, attack={"kind": "genetic"})
    with pytest.raises(JobFailure, match="beyond the declared range"):
        attacked(trainer, model, x * 255, y, y)
