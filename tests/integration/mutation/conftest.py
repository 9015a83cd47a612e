"""Handlers of the compiler that mutate, called as a worker's child does, with a store in a temporary folder."""

import pytest
from deltann_compiler.mutating import mutate_model
from deltann_engines.describe import describe

from deltann.job import Job
from deltann.kinds.mutate import MutateParams
from deltann.service import JobContext
from deltann.store import open_store


class Mutator:
    """Mutates files; its process stays warm."""

    def __init__(self, folder):
        self._folder, self._warm, self._count = folder, {}, 0
        self.store = open_store(str(folder / "store"))
        self.cache = folder / "cache"

    def __call__(self, path, mutation, **params):
        wanted = MutateParams(info=describe(path, "onnx"), mutation=mutation, **params)
        sources = {"model": self.store.put_path(path)}
        plain = wanted.model_dump(mode="json")
        job = Job(index=0, kind="mutate", params=plain, queue="compiler", job_id="0", sources=sources)
        self._count += 1
        workdir = self._folder / f"work{self._count}"
        workdir.mkdir()
        return mutate_model(
            wanted,
            JobContext(
                store=self.store, sweep="s", job=job, inputs={}, workdir=workdir, cache=self.cache, warm=self._warm
            ),
        )


@pytest.fixture
def mutator(tmp_path):
    return Mutator(tmp_path)
