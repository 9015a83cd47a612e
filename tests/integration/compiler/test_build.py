"""IREE, as a compiler that takes ONNX itself: its modules answer as ONNX Runtime does, and its refusals name why."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from deltann_engines.base import load
from deltann_engines.describe import describe
from deltann_engines.parity import outputs, seeded_inputs

from deltann.errors import JobFailure
from deltann.outcome import Outcome

_SPEC = importlib.util.spec_from_file_location("deltann_tiny_nets", Path(__file__).parent / "nets.py")
nets = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(nets)


@pytest.mark.parametrize("level", [None, "O2"])
def test_a_module_answers_as_the_model_does(compiler, tmp_path, level):
    path = nets.mixed(tmp_path / "mixed.onnx")
    info = describe(path, "onnx")
    produced, module = compiler.built(path, compiler="iree", level=level)
    assert produced.data.cpu_seconds > 0
    inputs = seeded_inputs(info, 4, seed=1)
    with load("onnxruntime", path, info) as session:
        expected = outputs(session, inputs)
    for threads in (1, 2):
        with load("iree", module, produced.data.info, threads) as session:
            np.testing.assert_allclose(outputs(session, inputs), expected, atol=1e-6)
            assert session.run(inputs[:1]).flags.owndata  # a later inference leaves it as it is


def test_a_free_batch_is_built_as_one(compiler, tmp_path):
    weights = {"w": np.eye(4, 3, dtype=np.float32)}
    node = nets.helper.make_node("MatMul", ["x", "w"], ["y"])
    path = nets.save(tmp_path / "free.onnx", [node], weights, shape=("n", 4), out=("n", 3))
    produced, module = compiler.built(path, compiler="iree", level="O1")
    assert produced.data.info.input.shape == (1, 4)
    with load("iree", module, produced.data.info) as session:
        x = np.array([[1, 2, 3, 4]], np.float32)
        np.testing.assert_array_equal(session.run(x), [[1, 2, 3]])


def test_what_iree_lacks_is_a_finding_that_names_it(compiler, tmp_path):
    pool = nets.helper.make_node("MaxRoiPool", ["x", "rois"], ["a"], pooled_shape=[2, 2])
    flat = nets.helper.make_node("Flatten", ["a"], ["y"])
    rois = {"rois": np.array([[0, 0, 0, 8, 8]], np.float32)}
    path = nets.save(tmp_path / "rois.onnx", [pool, flat], rois, out=(1, 12))
    with pytest.raises(JobFailure, match=r"iree cannot build this model at level O2: .*MaxRoiPool") as caught:
        compiler.built(path, compiler="iree", level="O2")
    assert (caught.value.outcome, caught.value.stage) == (Outcome.COMPILE_FAILED, "compile")
    assert "\n" not in str(caught.value)


def test_a_truncated_module_is_an_exception_and_no_crash(compiler, tmp_path):
    path = nets.odd(tmp_path / "odd.onnx")
    produced, module = compiler.built(path, compiler="iree", level="O0")
    short = tmp_path / "short.vmfb"
    short.write_bytes(module.read_bytes()[: module.stat().st_size // 2])
    with pytest.raises(Exception, match=r"."):
        load("iree", short, produced.data.info)
