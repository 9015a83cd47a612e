"""Whole networks on OpenCL: through our compiler and the executor's engine, against ONNX Runtime and llvm."""

import numpy as np
import pytest
import tvm
from deltann_engines import parity
from deltann_engines.base import load
from deltann_engines.describe import describe

from deltann.outcome import Outcome


@pytest.fixture(scope="module")
def imports(compiler, nets, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nets")
    made = {name: getattr(nets, name)(folder / f"{name}.onnx") for name in ("mixed", "odd", "saturated")}
    return {name: (path, compiler.imported(path)) for name, path in made.items()}


@pytest.mark.parametrize(("name", "level"), [("mixed", 0), ("mixed", 2), ("mixed", 4), ("odd", 3), ("saturated", 1)])
def test_a_network_answers_as_onnx_runtime_and_llvm(compiler, imports, name, level):
    path, imported = imports[name]
    info, answers = imported.data.info, {}
    x = parity.seeded_inputs(info, 3, 5)
    for target in ("host", "opencl"):
        produced, module = compiler.compiled(imported, level=level, target=target)
        assert produced.outcome is Outcome.OK
        assert produced.data.unscheduled == []
        with load("tvm", module, info) as session:
            answers[target] = parity.outputs(session, x)
            on = session.device
    assert on == tvm.device("opencl", 0).device_name
    with load("onnxruntime", path, describe(path, "onnx")) as session:
        assert parity.compare(parity.outputs(session, x), answers["opencl"]).max_rel < 1e-5
    np.testing.assert_allclose(answers["opencl"], answers["host"], rtol=1e-4, atol=1e-6)


REFUSED = """
import sys
from pathlib import Path
from deltann_engines.base import load
from deltann_engines.describe import describe
from deltann.errors import WrongDeviceError
info = describe(Path(sys.argv[2]), "onnx")
try:
    load("tvm", Path(sys.argv[1]), info)
except WrongDeviceError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        (
            {"TVM_DEVICE_BACKEND_AUTOLOAD": "0"},
            "given to a host without such a device (TVM has no runtime for opencl here)",
        ),
        ({"OCL_ICD_VENDORS": "/nowhere/"}, "given to a host without such a device (This host has no OpenCL device"),
    ],
)
def test_a_host_that_cannot_run_it_says_so_in_a_sentence(compiler, imports, python, variables, told):
    path, imported = imports["saturated"]
    _, module = compiler.compiled(imported, level=1, target="opencl")
    printed, _ = python(REFUSED, module, path, **variables)
    assert told in printed.splitlines()[-1]
