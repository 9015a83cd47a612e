"""The executor's two jobs on small real ONNX models, whose answers can be worked out by hand."""

from __future__ import annotations

import importlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from deltann_engines.describe import describe
from deltann_executor.service import SERVICE
from onnx import TensorProto, helper
from PIL import Image

from deltann.data import write_image_shard, write_tensor_shard
from deltann.errors import JobFailure
from deltann.job import Job
from deltann.outcome import Outcome
from deltann.preprocess.steps import Recipe
from deltann.service import JobContext, Produced
from deltann.store import LocalStore

X = np.array([[1.0, -2.0, 3.0], [0.0, 5.0, 4.0], [-1.0, -1.0, 2.0]], np.float32)


def network(path: Path, operator: str, shape: list[int]) -> Path:
    graph = helper.make_graph(
        [helper.make_node(operator, ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, *shape])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, *shape])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)
    return path


class Bench:
    """A store and what a job needs of it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store = folder, LocalStore.from_url(str(folder / "store"))
        self.warm: dict[str, Any] = {}

    def run(self, kind: str, model: Path, shard: Path, **params: Any) -> Produced:
        declared = SERVICE.kind(kind)
        info = params.pop("info", None) or describe(model, "onnx")
        wanted = declared.params.model_validate(
            {"engine": "onnxruntime", "info": info, "recipe": Recipe(name="none"), "data_kind": "tensors", **params}
        )
        sources = {"model": self.store.put_path(model), "shard": self.store.put_path(shard)}
        job = Job(index=0, kind=kind, params={}, queue="exec.cpu", job_id="j", sources=sources)
        workdir = self.folder / "work"
        workdir.mkdir(exist_ok=True)
        context = JobContext(
            store=self.store,
            sweep="s",
            job=job,
            inputs={},
            workdir=workdir,
            cache=self.folder / "cache",
            warm=self.warm,
        )
        module, _, name = declared.handler.partition(":")
        produced: Produced = getattr(importlib.import_module(module), name)(wanted, context)
        return produced

    def arrays(self, produced: Produced, role: str) -> dict[str, np.ndarray]:
        with np.load(io.BytesIO(self.store.read(produced.artifacts[role])), allow_pickle=False) as found:
            return dict(found)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def tensors(tmp_path: Path) -> Path:
    write_tensor_shard(tmp_path / "x.npy", X)
    return tmp_path / "x.npy"


def test_labels_and_scores_are_those_worked_out_by_hand(bench: Bench, tensors: Path, tmp_path: Path) -> None:
    produced = bench.run("execute", network(tmp_path / "neg.onnx", "Neg", [3]), tensors, start=0, stop=3, k=2)
    found = bench.arrays(produced, "outputs")
    assert produced.outcome == Outcome.OK
    assert found["labels"].tolist() == [[1, 0], [0, 2], [0, 1]]
    assert found["scores"].tolist() == [[2.0, -1.0], [0.0, -4.0], [1.0, 1.0]]
    assert found["outputs"].tolist() == (-X).tolist()
    assert found["valid"].all()


def test_outputs_are_kept_only_where_asked(bench: Bench, tensors: Path, tmp_path: Path) -> None:
    model = network(tmp_path / "neg.onnx", "Neg", [3])
    produced = bench.run("execute", model, tensors, start=0, stop=3, keep_outputs=False)
    assert "outputs" not in bench.arrays(produced, "outputs")


def test_nan_is_an_outcome_and_the_other_inputs_keep_their_labels(bench: Bench, tensors: Path, tmp_path: Path) -> None:
    produced = bench.run("execute", network(tmp_path / "sqrt.onnx", "Sqrt", [3]), tensors, start=0, stop=3, k=1)
    found = bench.arrays(produced, "outputs")
    assert produced.outcome == Outcome.INVALID_OUTPUT
    assert produced.error is not None
    assert "2 of 3" in produced.error.message
    assert found["valid"].tolist() == [False, True, False]
    assert found["labels"].tolist() == [[-1], [1], [-1]]


def test_a_warm_model_is_not_mistaken_for_another(bench: Bench, tensors: Path, tmp_path: Path) -> None:
    for name, operator, expected in (("neg", "Neg", 1), ("id", "Identity", 2), ("again", "Neg", 1)):
        model = network(tmp_path / f"{name}.onnx", operator, [3])
        produced = bench.run("execute", model, tensors, start=0, stop=3, k=1)
        assert bench.arrays(produced, "outputs")["labels"][0].tolist() == [expected]


def test_every_repeat_is_kept_and_the_first_apart(bench: Bench, tensors: Path, tmp_path: Path) -> None:
    model = network(tmp_path / "neg.onnx", "Neg", [3])
    produced = bench.run("time", model, tensors, inputs=2, repeats=7)
    found = bench.arrays(produced, "times")
    assert found["ns"].shape == (2, 7)
    assert (found["ns"] > 0).all()
    assert found["first_ns"] > 0
    data: Any = produced.data
    assert (data.n, data.batch, data.threads, len(data.affinity)) == (14, 1, 1, 1)


def test_an_input_of_another_size_is_a_finding_that_says_what_to_do(bench: Bench, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    Image.fromarray(np.zeros((6, 6, 3), np.uint8)).save(buffer, "PNG")
    write_image_shard(tmp_path / "photos.zip", [buffer.getvalue()])
    model = network(tmp_path / "image.onnx", "Neg", [8, 8, 3])
    with pytest.raises(JobFailure, match="choose a recipe") as caught:
        bench.run("execute", model, tmp_path / "photos.zip", data_kind="images", start=0, stop=1)
    assert caught.value.outcome == Outcome.RUN_FAILED


def test_a_model_that_cannot_be_loaded_is_a_finding(bench: Bench, tensors: Path, tmp_path: Path) -> None:
    model = network(tmp_path / "neg.onnx", "Neg", [3])
    info = describe(model, "onnx")
    model.write_bytes(model.read_bytes()[:40])
    with pytest.raises(JobFailure, match="could not load") as caught:
        bench.run("execute", model, tensors, info=info, start=0, stop=3)
    assert (caught.value.outcome, caught.value.stage) == (Outcome.RUN_FAILED, "load")
