"""Modules for each level of x86-64 against each other, and modules that are for another device than this one."""

import pytest
from deltann_engines import elf, parity, placement
from deltann_engines.base import load
from deltann_engines.describe import describe

from deltann.errors import JobFailure, WrongDeviceError
from deltann.fleet.device import describe_device
from deltann.fleet.fit import processor_lacks
from deltann.outcome import Outcome
from deltann.targets import TARGETS, Needs, read_target


@pytest.fixture(scope="module")
def model(compiler, nets, tmp_path_factory, request):
    """MobileNetV2 where it is, else a small net of the same operators, and what it is to answer."""
    try:
        path = request.getfixturevalue("mobilenet") / "mobilenet_v2.onnx"
    except pytest.skip.Exception:
        path = nets.mixed(tmp_path_factory.mktemp("nets") / "mixed.onnx")
    imported = compiler.imported(path, parity_inputs=1)
    x = parity.seeded_inputs(imported.data.info, 3, 11)
    with load("onnxruntime", path, describe(path, "onnx")) as session:
        return imported, x, parity.outputs(session, x)


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "x86-64-v4", "host"])
def test_every_processor_answers_alike_or_is_refused_before_anything_runs(compiler, model, target):
    imported, x, expected = model
    produced, module = compiler.compiled(imported, level=3, target=target)
    needs = produced.data.needs
    assert Needs.model_validate_json(elf.section(module, placement.SECTION)) == needs
    assert needs.target == target
    assert produced.data.unscheduled == []
    if missing := processor_lacks(needs, describe_device()):
        with pytest.raises(WrongDeviceError, match=target) as refused:
            load("tvm", module, imported.data.info)
        assert missing[0] in str(refused.value)
        assert describe_device().cpu in str(refused.value)
        return
    with load("tvm", module, imported.data.info) as session:
        found = parity.compare(expected, parity.outputs(session, x))
    assert (found.n, found.top1_agreement) == (3, 1)
    assert found.max_rel < 1e-4


@pytest.fixture(scope="module")
def small(compiler, nets, tmp_path_factory):
    return compiler.imported(nets.odd(tmp_path_factory.mktemp("nets") / "odd.onnx"))


def test_a_mapping_of_tvms_is_compiled_for_and_named_in_the_module(compiler, small):
    text = read_target({"mcpu": "nehalem", "kind": "llvm"})
    produced, module = compiler.compiled(small, level=1, target=text)
    assert produced.data.target == {"kind": "llvm", "mcpu": "nehalem"}
    assert "sse4_2" in produced.data.needs.features
    assert b"nehalem" in elf.section(module, placement.SECTION)


def test_a_module_for_a_device_that_is_not_here_is_refused_by_name(compiler, small):
    text = read_target({"kind": "metal"})
    produced, module = compiler.compiled(small, level=1, target=text)
    assert produced.data.needs.runtime == "metal"
    assert produced.data.passes[-1] == "GPUSchedule"
    with pytest.raises(WrongDeviceError, match="TVM has no runtime for metal here"):
        load("tvm", module, small.data.info)


def test_a_kind_that_tvm_cannot_make_code_for_is_no_success(compiler, small):
    with pytest.raises(JobFailure, match="rocm") as failure:
        compiler.compiled(small, level=1, target=read_target({"kind": "rocm"}))
    assert failure.value.outcome is Outcome.COMPILE_FAILED


def test_a_processor_without_the_features_is_refused_by_name(compiler, small, monkeypatch):
    """The same on a machine that has them all."""
    from deltann_engines import tvm_engine

    poor = describe_device().model_copy(update={"features": TARGETS["x86-64-v2"].needs.features, "cpu": "Nehalem"})
    monkeypatch.setattr(tvm_engine, "describe_device", lambda: poor)
    _, module = compiler.compiled(small, level=1, target="x86-64-v3")
    with pytest.raises(WrongDeviceError, match=r"x86-64-v3 \(x86_64\).*Nehalem \(x86_64\), which lacks abm, avx, avx2"):
        load("tvm", module, small.data.info)
