"""Digits that any network can learn, and the jobs that train on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from deltann_trainer.service import TRAIN
from deltann_trainer.train import train

from deltann.job import Job, JobResult
from deltann.kinds.resolve import DataManifest, DataShard
from deltann.kinds.train import TrainedModel, TrainParams
from deltann.outcome import Outcome
from deltann.service import JobContext, Produced
from deltann.store import open_store

CLASSES = 10


def digits(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """float32 [n, 28, 28, 1]: class c is a bright square at the place c of a grid, under noise."""
    random = np.random.default_rng(seed)
    y = random.integers(0, CLASSES, n)
    x = random.random((n, 28, 28, 1), np.float32) * 0.3
    for row, label in enumerate(y):
        top, left = 2 + 13 * (label // 5), 1 + 5 * (label % 5)
        x[row, top : top + 8, left : left + 5] += 0.6
    return x, y


class Trainer:
    """Runs handlers against one store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = open_store(str(folder / "store"))
        self._number = 0

    def data(self, x: np.ndarray, y: np.ndarray, kind: str = "tensors") -> JobResult:
        """The result of ``resolve_data`` for arrays."""
        path = self.folder / "shard.npy"
        np.save(path, x)
        shard = DataShard(blob=self.store.put_path(path), start=0, stop=len(x))
        ids = tuple(str(row) for row in range(len(x)))
        manifest = DataManifest.model_validate(
            {"kind": kind, "ids": ids, "labels": [None if label < 0 else int(label) for label in y], "shards": [shard]}
        )
        text = manifest.model_dump_json()
        return JobResult(
            kind="resolve_data",
            result_key="d",
            outcome=Outcome.OK,
            artifacts={"manifest": self.store.put_bytes(text.encode(), "manifest.json")},
            data={"manifest": manifest.model_dump(mode="json")},
        )

    def run(self, framework: str, data: JobResult, *, network: str = "lenet5", seed: int = 1, **fit: Any) -> Produced:
        """What a training job makes."""
        params = TrainParams.model_validate(
            {"network": network, "framework": framework, "recipe": {"name": "none"}, "fit": fit, "seed": seed}
        )
        job = Job(index=0, kind=TRAIN.name, params=params.model_dump(mode="json"), queue="trainer", job_id="j")
        self._number += 1
        workdir = self.folder / f"work-{self._number}"
        workdir.mkdir()
        context = JobContext(
            store=self.store, sweep="s", job=job, inputs={"data": data}, workdir=workdir, cache=self.folder / "cache"
        )
        return train(params, context)

    def path(self, produced: Produced) -> Path:
        """The model's file."""
        return self.store.materialise(produced.artifacts["model"], self.folder / "cache")


def trained(produced: Produced) -> TrainedModel:
    """The data of a job."""
    assert isinstance(produced.data, TrainedModel)
    return produced.data
