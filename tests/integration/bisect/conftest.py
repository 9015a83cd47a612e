"""The handler of ``bisect``, called as a worker's child does, with a store in a temporary folder."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from deltann_compiler.bisect import candidate
from deltann_compiler.bisect.job import bisect_model
from deltann_engines.describe import describe
from onnx import TensorProto, helper, numpy_helper

from deltann.data import write_tensor_shard
from deltann.job import Job
from deltann.kinds.bisect import BisectParams, Setting
from deltann.preprocess.recipes import resolve_recipe
from deltann.service import JobContext
from deltann.store import open_store


class Bisector:
    """Searches in files; keeps the folder of reproducers of the last search."""

    def __init__(self, folder):
        self._folder, self._count = folder, 0
        self.store = open_store(str(folder / "store"))
        self.reproducers = None

    def __call__(self, path, shard, a=None, b=None, *, service=candidate.NAME, recipe="none", **params):
        info = describe(path, path.suffix[1:])
        if not isinstance(shard, Path):
            array, shard = shard, self._folder / "shard.npy"
            write_tensor_shard(shard, array)
            params["data_kind"] = "tensors"
        wanted = BisectParams(
            info=info,
            a=a or Setting(level=0),
            b=b or Setting(level=4),
            recipe=resolve_recipe(recipe, info),
            **params,
        )
        sources = {"model": self.store.put_path(path), "shard0": self.store.put_path(shard)}
        job = Job(index=0, kind="bisect", params={}, queue="compiler", job_id="0", sources=sources)
        self._count += 1
        workdir = self._folder / f"work{self._count}"
        workdir.mkdir()
        cache = self._folder / "cache"
        context = JobContext(store=self.store, sweep="s", job=job, inputs={}, workdir=workdir, cache=cache)
        produced = bisect_model(wanted, context, service)
        made = produced.artifacts.get("reproducers")
        self.reproducers = self.store.materialise(made, cache) if made else None
        return produced.data

    def reproduce(self, finding):
        """What the script says, away from DeltaNN's code."""
        folder = self.reproducers / finding.reproducer
        bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(
            [sys.executable, "reproduce.py"], cwd=folder, env=bare, capture_output=True, text=True, check=False
        )


@pytest.fixture
def bisector(tmp_path):
    return Bisector(tmp_path)


@pytest.fixture
def network(tmp_path):
    """Writes a network of one input ``x`` and one output ``y``."""

    def write(nodes, constants, shape, out):
        graph = helper.make_graph(
            nodes,
            "net",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, out)],
            [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        path = tmp_path / "net.onnx"
        onnx.save(model, path)
        return path

    return write
