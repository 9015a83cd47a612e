"""Converter, compiler and executor on a broken store and on a full disk: nothing of that is stored as a finding.

Most handlers are answered for in this process, so that each framework is imported once. On a full disk frameworks
abort, so there they run in children, as a worker has it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from deltann_engines.describe import describe
from disks import fill
from onnx import TensorProto, helper, numpy_helper

from deltann.artifact import ArtifactRef
from deltann.data import write_tensor_shard
from deltann.errors import StoreError
from deltann.job import Job, JobResult
from deltann.outcome import Outcome
from deltann.service import find_service
from deltann.store import LocalStore
from deltann.store.base import blob_key
from deltann.worker.child import answer
from deltann.worker.children import Children
from deltann.worker.hostlock import HostLock
from deltann.worker.settle import Settled, Settler, describe_host
from deltann.worker.wire import Reply, Request

JOBS = ("convert", "import", "compile", "execute")
SERVICES = {"convert": "converter", "import": "compiler", "compile": "compiler", "execute": "executor"}
FAILURES = {
    "convert": Outcome.CONVERT_FAILED,
    "import": Outcome.COMPILE_FAILED,
    "compile": Outcome.COMPILE_FAILED,
    "execute": Outcome.RUN_FAILED,
}


class Store(LocalStore):
    """A store that can be told to refuse what a handler asks of it."""

    refuses = ""

    def upload(self, key: str, path: Path) -> None:
        if self.refuses == "put":
            raise StoreError("The store refuses to take anything. Start it again.")
        super().upload(key, path)

    def download(self, key: str, file: Any) -> bool:
        if self.refuses == "get":
            raise StoreError("The store refuses to give anything. Start it again.")
        return super().download(key, file)


class InProcess:
    """Answers as a child process does."""

    def __init__(self, service: str, store: LocalStore, cache: Path, work: Path) -> None:
        self._service, self._store, self._cache, self._work = service, store, cache, work

    def run(self, sweep: str, job: Job, inputs: Mapping[str, JobResult], **_: object) -> tuple[Reply, bytes]:
        workdir = self._work / "job"
        workdir.mkdir(parents=True)
        try:
            request = Request(sweep=sweep, job=job, inputs=dict(inputs), workdir=str(workdir), pool=None)
            return answer(find_service(self._service), self._store, self._cache, {}, request), b""
        finally:
            shutil.rmtree(workdir)


class Bench:
    """One job of each kind on a small real model."""

    def __init__(self, folder: Path, disk: Path | None = None) -> None:
        self.folder, self.disk = folder, disk or folder / "disk"
        self.store, self.cache = Store(folder / "store"), self.disk / "cache"
        self.model = network(folder / "model.onnx")
        self.info = describe(self.model, "onnx").model_dump(mode="json")
        self.inputs: dict[str, JobResult] = {}

    def job(self, kind: str, broken: bytes | None = None) -> Job:
        """A job, or one whose model is not one."""
        model = self.store.put_path(self.model) if broken is None else self.store.put_bytes(broken, "model.onnx")
        sources: dict[str, ArtifactRef] = {"model": model}
        params: dict[str, Any] = {"info": self.info}
        if kind == "convert":
            params |= {"source": "onnx", "target": "pytorch", "parity_inputs": 1}
        elif kind == "compile":
            params |= {"level": 0}
            sources = {"ir": self._ir() if broken is None else model}
        elif kind == "execute":
            shard = self.folder / "x.npy"
            write_tensor_shard(shard, np.zeros((1, 8, 8, 3), np.float32))
            sources["shard"] = self.store.put_path(shard)
            params |= {"engine": "onnxruntime", "recipe": {"name": "none"}, "data_kind": "tensors"}
            params |= {"start": 0, "stop": 1, "k": 1}
        return Job(index=0, kind=kind, params=params, queue="q", job_id=kind, sources=sources)

    def settle(self, job: Job, sweep: str = "s", children: Any = None) -> Settled:
        name, worker = SERVICES[job.kind], describe_host(None)
        children = children or InProcess(name, self.store, self.cache, self.disk / "work")
        settled = Settler(find_service(name), self.store, children, HostLock(), worker).settle(sweep, job, {})
        assert settled is not None
        return settled

    def stored(self) -> list[str]:
        return list(self.store.list("results/"))

    def _ir(self) -> ArtifactRef:
        import tvm
        from tvm.relax.frontend.onnx import from_onnx

        path = self.folder / "ir.json"
        path.write_text(tvm.ir.save_json(from_onnx(onnx.load(self.model), keep_params_in_input=False)))
        return self.store.put_path(path)


def network(path: Path) -> Path:
    weight = np.random.default_rng(0).normal(size=(4, 3, 3, 3)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Flatten", ["c"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 144])],
        [numpy_helper.from_array(weight, "w")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)
    return path


def comes_right(bench: Bench, job: Job, mend: Callable[[], object], told: str, children: Any = None) -> None:
    """Trouble gives no result; the same job gives its own once the trouble has ended."""
    with pytest.raises(StoreError, match=told) as caught:
        bench.settle(job, children=children)
    assert "\n" not in str(caught.value)
    assert bench.stored() == []
    mend()
    settled = bench.settle(job, children=children)
    assert (settled.result.outcome, settled.result.error) == (Outcome.OK, None)
    assert bench.stored() == [f"results/{settled.result.result_key}"]


@pytest.mark.parametrize("refuses", ["get", "put"])
@pytest.mark.parametrize("kind", JOBS)
def test_a_store_that_refuses_is_no_finding(tmp_path: Path, kind: str, refuses: str) -> None:
    bench = Bench(tmp_path)
    job = bench.job(kind)
    bench.store.refuses = refuses
    comes_right(bench, job, lambda: setattr(bench.store, "refuses", ""), "The store refuses to .* Start it again")


@pytest.mark.parametrize("kind", ["convert", "compile", "execute"])
def test_a_full_disk_is_no_finding(tmp_path: Path, small_disk: Path, kind: str) -> None:
    """The inputs are there; what is full is where the framework writes."""
    bench = Bench(tmp_path, small_disk)
    job = bench.job(kind)
    for ref in job.sources.values():
        bench.store.materialise(ref, bench.cache)
    with Children(SERVICES[kind], bench.store.url, bench.cache) as children:
        filler = fill(small_disk, leave=4096)  # for the worker's own note of what it has in hand
        comes_right(bench, job, filler.unlink, "The disk of this worker is full", children)


@pytest.mark.parametrize("kind", JOBS)
def test_a_cache_that_cannot_be_written_is_no_finding(tmp_path: Path, kind: str) -> None:
    bench = Bench(tmp_path)
    job = bench.job(kind)
    bench.disk.mkdir()
    bench.cache.write_text("in the way of the folder of this name")
    comes_right(bench, job, bench.cache.unlink, "Could not lay a copy of .* into the cache")


@pytest.mark.parametrize("kind", JOBS)
def test_a_framework_that_fails_is_a_finding_and_is_used_again(tmp_path: Path, kind: str) -> None:
    bench = Bench(tmp_path)
    job = bench.job(kind, broken=b"this is no model")
    first = bench.settle(job)
    assert (first.result.outcome, first.reused) == (FAILURES[kind], False)
    assert first.result.error is not None
    again = bench.settle(job, "another sweep")
    assert (again.result, again.reused) == (first.result, True)
    assert bench.stored() == [f"results/{first.result.result_key}"]


@pytest.mark.parametrize("kind", JOBS)
def test_an_artifact_with_other_bytes_is_refused_and_that_is_not_used_again(tmp_path: Path, kind: str) -> None:
    bench = Bench(tmp_path)
    job = bench.job(kind)
    ref = next(iter(job.sources.values()))
    data = bench.store.read(ref)
    bench.store.put(blob_key(ref.digest), b"other bytes")
    spoilt = bench.settle(job).result
    assert (spoilt.outcome, spoilt.error and spoilt.error.type) == (FAILURES[kind], "CorruptArtifactError")
    bench.store.put(blob_key(ref.digest), data)
    assert bench.settle(job, "another sweep").result.outcome is Outcome.OK
