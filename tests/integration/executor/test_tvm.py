"""Compiled modules in the executor: the right answers, and clear words for a module of another device."""

import io
import os

import numpy as np
import pytest
from tiny_module import INFO, WEIGHTS, X, build

from deltann.data import write_tensor_shard
from deltann.digest import digest_value
from deltann.job import Job, JobResult, Plan
from deltann.kinds.execute import ExecuteParams, TimeParams
from deltann.outcome import Outcome
from deltann.preprocess.steps import Recipe
from deltann.store import open_store
from deltann.worker.inline import run_inline

FOR_CUDA = """
gpu = tvm.target.Target({"kind": "cuda", "arch": "sm_87", "host": {"kind": "llvm"}})
with gpu:
    from tvm.s_tir import dlight
    scheduled = dlight.ApplyDefaultSchedule(dlight.gpu.Fallback())(graph)
relax.build(scheduled, target=gpu).export_library(sys.argv[1] + "/cuda.so")
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """A module for this host, the same with another processor in its header, and one for a CUDA device."""
    folder = build(tmp_path_factory.mktemp("tvm"), FOR_CUDA)
    foreign = bytearray((folder / "host.so").read_bytes())
    foreign[18:20] = (183 if os.uname().machine != "aarch64" else 62).to_bytes(2, "little")
    (folder / "foreign.so").write_bytes(foreign)
    return folder


EXECUTE = ExecuteParams(
    engine="tvm", info=INFO, recipe=Recipe(name="none"), data_kind="tensors", start=0, stop=len(X), k=3, threads=2
)
OTHER_SIZE = INFO.model_copy(update={"input": INFO.input.model_copy(update={"shape": (1, 7)})})
JOBS = {
    "whole": ("host.so", EXECUTE),
    "foreign": ("foreign.so", EXECUTE),
    "cuda": ("cuda.so", EXECUTE),
    "short": ("short.so", EXECUTE),
    "other size": ("host.so", EXECUTE.model_copy(update={"info": OTHER_SIZE})),
    "short shard": ("host.so", EXECUTE.model_copy(update={"stop": 99})),
    "time": (
        "host.so",
        TimeParams(
            engine="tvm", info=INFO, recipe=Recipe(name="none"), data_kind="tensors", inputs=4, repeats=3, threads=2
        ),
    ),
}


@pytest.fixture(scope="module")
def ends(tmp_path_factory, modules):
    """Each job's result and arrays, run one after the other in one worker's child."""
    folder = tmp_path_factory.mktemp("executor")
    store = open_store(str(folder / "store"))
    write_tensor_shard(folder / "x.npy", X)
    shard = store.put_path(folder / "x.npy")
    jobs = []
    for index, (name, params) in enumerate(JOBS.values()):
        plain = params.model_dump(mode="json")
        kind = "time" if isinstance(params, TimeParams) else "execute"
        sources = {"module": store.put_path(modules / name), "shard": shard}
        job_id = digest_value([plain, name])
        jobs.append(Job(index=index, kind=kind, params=plain, queue="exec.cpu", job_id=job_id, sources=sources))
    found = {}
    for name, end in zip(JOBS, run_inline(Plan(jobs=tuple(jobs)), store, folder / "cache"), strict=True):
        assert isinstance(end, JobResult)
        found[name] = end, {role: dict(np.load(io.BytesIO(store.read(ref)))) for role, ref in end.artifacts.items()}
    return found


def test_a_module_answers_as_numpy_does(ends):
    end, arrays = ends["whole"]
    assert end.outcome == Outcome.OK, end.error
    expected = np.maximum(X @ WEIGHTS, 0)
    np.testing.assert_allclose(arrays["outputs"]["outputs"], expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(arrays["outputs"]["labels"], np.argsort(-expected, axis=1, kind="stable"))
    assert "apache-tvm" in end.toolchain


def test_a_module_is_timed(ends):
    end, arrays = ends["time"]
    assert end.outcome == Outcome.OK, end.error
    assert arrays["times"]["ns"].shape == (4, 3)
    assert (arrays["times"]["ns"] > 0).all()
    assert end.data["affinity"] == sorted(os.sched_getaffinity(0))[:2]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("foreign", ["was compiled for", os.uname().machine, "pool"]),
        ("cuda", ["cuda", "no runtime", "pool"]),
        ("short", ["tvm could not load short.so: the file is truncated"]),
    ],
)
def test_a_module_that_cannot_run_here_says_why(ends, name, words):
    end, arrays = ends[name]
    assert (end.outcome, arrays) == (Outcome.RUN_FAILED, {})
    assert end.error.stage == "load"
    assert all(word in end.error.message for word in words), end.error.message
    assert "\n" not in end.error.message
    assert end.log is not None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("other size", "takes inputs of [7] but preprocessing 'none' makes [4]"),
        ("short shard", "holds 6 inputs, not 99"),
    ],
)
def test_inputs_that_do_not_fit_are_refused_before_anything_is_run(ends, name, words):
    end, arrays = ends[name]
    assert (end.outcome, end.error.stage, arrays) == (Outcome.RUN_FAILED, "preprocess", {})
    assert words in end.error.message
