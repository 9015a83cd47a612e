"""A mutant that crashes or never ends is a finding about it, and the next one is made as if nothing had been."""

import os
import platform
import time
from pathlib import Path

import deltann_hasty as hasty
import numpy as np
import onnx
import pytest
from deltann_engines.describe import describe
from onnx import TensorProto, helper, numpy_helper

from deltann.job import Job, Plan
from deltann.kinds.mutate import MutateParams
from deltann.mutation import Mutation
from deltann.outcome import Outcome
from deltann.store import LocalStore
from deltann.worker.inline import run_inline

FAR = 1e15
"""Rounds that nobody waits for."""


def saved(path, nodes, constants):
    """A network from one number to one, whose dense layer ``h`` answers 1 to everything."""
    constants = {"w": np.zeros((1, 1), np.float32), "b": np.ones(1, np.float32), **constants}
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["h"], name="dense"), *nodes],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 1))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 1))],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture
def dividing(tmp_path):
    """The smallest of all whole numbers by ``h``: there is no number for what −1 gives, and processors trap."""
    nodes = [
        helper.make_node("Cast", ["h"], ["i"], to=TensorProto.INT64),
        helper.make_node("Div", ["least", "i"], ["q"]),
        helper.make_node("Cast", ["q"], ["y"], to=TensorProto.FLOAT),
    ]
    return saved(tmp_path / "dividing.onnx", nodes, {"least": np.full((1, 1), -(2**63), np.int64)})


@pytest.fixture
def looping(tmp_path):
    """As many rounds as ``h`` says, each of which adds 1."""
    flag, number = (helper.make_tensor_value_info(*of) for of in (("go", 9, ()), ("v", 1, (1, 1))))
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Add", ["v", "one"], ["more"])],
        "round",
        [helper.make_tensor_value_info("n", TensorProto.INT64, ()), flag, number],
        [helper.make_tensor_value_info("on", 9, ()), helper.make_tensor_value_info("more", 1, (1, 1))],
    )
    nodes = [
        helper.make_node("Cast", ["h"], ["i"], to=TensorProto.INT64),
        helper.make_node("Reshape", ["i", "scalar"], ["rounds"]),
        helper.make_node("Loop", ["rounds", "", "h"], ["y"], body=body),
    ]
    constants = {"one": np.ones((1, 1), np.float32), "scalar": np.zeros(0, np.int64)}
    return saved(tmp_path / "looping.onnx", nodes, constants)


@pytest.fixture
def ends(tmp_path, monkeypatch):
    """The ends of mutate jobs of one model, its dense layer's answer multiplied, one job after the other."""
    support = str(Path(hasty.__file__).parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([support, os.environ.get("PYTHONPATH", "")]))
    store = LocalStore(tmp_path / "store")

    def run(path, *factors):
        jobs = []
        for index, factor in enumerate(factors):
            mutation = Mutation(operator="scale_conv2d_dense_0_after", parameters={"factor": factor})
            params = MutateParams(info=describe(path, "onnx"), mutation=mutation).model_dump(mode="json")
            sources = {"model": store.put_path(path)}
            jobs.append(
                Job(index=index, kind="mutate", params=params, queue="compiler", job_id=str(index), sources=sources)
            )
        return run_inline(Plan(jobs=tuple(jobs)), store, tmp_path / "cache", services=(hasty.NAME,))

    return run


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors give some number")
def test_a_mutant_that_crashes_is_an_outcome_with_its_signal(ends, dividing):
    crashed, after = ends(dividing, -1, 2)
    assert (crashed.outcome, crashed.error.type) == (Outcome.CRASHED, "SIGFPE")
    assert (after.outcome, after.data["equivalence"]["label"]) == (Outcome.OK, "differs")


def test_a_mutant_that_never_ends_runs_into_the_time_limit(ends, looping):
    began = time.monotonic()
    hung, after = ends(looping, FAR, 2)
    assert (hung.outcome, hung.error.type) == (Outcome.TIMED_OUT, "TimeLimit")
    assert time.monotonic() - began < 10 * hasty.SECONDS
    assert (after.outcome, after.data["equivalence"]["label"]) == (Outcome.OK, "differs")
