"""The compiler's handlers, called as a worker's child does, with a store in a temporary folder."""

import importlib.util
import os
from importlib import import_module
from pathlib import Path

import pytest
from deltann_compiler.service import SERVICE
from deltann_engines.describe import describe

from deltann.job import Job, JobResult
from deltann.service import JobContext
from deltann.store import open_store

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TVM_NUM_THREADS", "1")


class Compiler:
    """Imports models, and compiles what came of it."""

    def __init__(self, folder):
        self._folder = folder
        self._count = 0
        self.store = open_store(str(folder / "store"))
        self.cache = folder / "cache"

    def _call(self, kind, params, sources, inputs):
        known = SERVICE.kind(kind)
        valid = known.params.model_validate(params)
        module, _, name = known.handler.partition(":")
        job = Job(
            index=0, kind=kind, params=valid.model_dump(mode="json"), queue="compiler", job_id="0", sources=sources
        )
        self._count += 1
        workdir = self._folder / f"work{self._count}"
        workdir.mkdir()
        context = JobContext(store=self.store, sweep="s", job=job, inputs=inputs, workdir=workdir, cache=self.cache)
        return getattr(import_module(module), name)(valid, context)

    def imported(self, path, fmt="onnx", **params):
        info = describe(path, fmt)
        return self._call(
            "import", {"info": info, "parity_inputs": 2, **params}, {"model": self.store.put_path(path)}, {}
        )

    def compiled(self, imported, original=None, **params):
        """What was produced, and the path of the module. A mutant is held against ``original``, where that is given."""
        inputs = {"ir": self._result(imported)} | ({"module": self._result(original)} if original else {})
        produced = self._call("compile", params, {}, inputs)
        return produced, self.store.materialise(produced.artifacts["module"], self.cache)

    def explained(self, imported, **params):
        """The passes, and what each did."""
        return self._call("explain", params, {}, {"ir": self._result(imported)}).data

    def built(self, path, **params):
        """The same of a model in ONNX, by a compiler that takes it whole."""
        produced = self._call(
            "build", {"info": describe(path, "onnx"), **params}, {"model": self.store.put_path(path)}, {}
        )
        return produced, self.store.materialise(produced.artifacts["module"], self.cache)

    @staticmethod
    def _result(imported):
        return JobResult(
            kind="import",
            result_key="",
            outcome=imported.outcome,
            artifacts=dict(imported.artifacts),
            data=imported.data.model_dump(mode="json"),
        )


@pytest.fixture(scope="session")
def nets():
    """The module of tiny networks, which is no test."""
    spec = importlib.util.spec_from_file_location("deltann_tiny_nets", Path(__file__).parent / "nets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def compiler(tmp_path_factory):
    return Compiler(tmp_path_factory.mktemp("compiler"))


@pytest.fixture(scope="session")
def mobilenet():
    shared = Path(os.environ.get("DELTANN_SHARED", Path(__file__).parents[3].parent / "shared"))
    folder = shared / "data" / "models" / "mobilenet_v2"
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}: set DELTANN_SHARED to the folder with data/models/mobilenet_v2")
    return folder
