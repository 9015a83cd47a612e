"""Modules for ARM: linked on this machine, and really run, by qemu, in a Python as a board has it."""

import os
import platform
import subprocess
from pathlib import Path

import deltann_engines
import numpy as np
import pytest
from deltann_engines import parity
from deltann_engines.base import load

import deltann
from deltann.errors import WrongDeviceError

pytestmark = pytest.mark.arm64

_RUN = """
import sys
from pathlib import Path
import numpy as np
from deltann.model import ModelInfo
from deltann_engines import parity
from deltann_engines.base import load

folder = Path(sys.argv[1])
info = ModelInfo.model_validate_json((folder / "info.json").read_text())
try:
    with load("tvm", Path(sys.argv[2]), info) as session:
        np.save(folder / "y.npy", parity.outputs(session, np.load(folder / "x.npy")))
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


class Board:
    """Runs modules in the aarch64 Python."""

    def __init__(self, python):
        self._python = python

    def run(self, module, info, x, folder):
        """The outputs, or what the process said."""
        np.save(folder / "x.npy", x)
        (folder / "info.json").write_text(info.model_dump_json())
        path = os.pathsep.join(str(Path(package.__file__).parents[1]) for package in (deltann, deltann_engines))
        command = [self._python, "-c", _RUN, str(folder), str(module)]
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=500
        )
        return np.load(folder / "y.npy") if done.returncode == 0 else done.stderr.strip()


@pytest.fixture(scope="module")
def board():
    python = os.environ.get("DELTANN_ARM64_PYTHON")
    if python is None:
        pytest.skip("DELTANN_ARM64_PYTHON names no aarch64 Python: run make test-arm64, which makes one")
    return Board(python)


@pytest.fixture(scope="module")
def mixed(compiler, nets, tmp_path_factory):
    path = nets.mixed(tmp_path_factory.mktemp("nets") / "mixed.onnx")
    return path, compiler.imported(path)


def outputs(engine, path, info, x):
    with load(engine, path, info) as session:
        return parity.outputs(session, x)


@pytest.mark.parametrize(("target", "level"), [("arm64-generic", 3), ("raspberry-pi-4b", 0), ("raspberry-pi-4b", 4)])
def test_a_module_for_arm_answers_as_onnx_runtime_and_as_one_for_this_processor(
    compiler, mixed, board, tmp_path, target, level
):
    path, imported = mixed
    info = imported.data.info
    produced, module = compiler.compiled(imported, level=level, target=target)
    assert (produced.data.needs.machine, produced.data.unscheduled) == ("aarch64", [])
    x = parity.seeded_inputs(info, 3, 5)
    answered = board.run(module, info, x, tmp_path)
    assert isinstance(answered, np.ndarray), answered
    _, here = compiler.compiled(imported, level=level, target="x86-64-v3")
    for expected in (outputs("onnxruntime", path, info, x), outputs("tvm", here, info, x)):
        found = parity.compare(expected, answered)
        assert (found.n, found.top1_agreement) == (3, 1)
        assert found.max_rel < 1e-5


def test_a_module_on_the_other_processor_is_refused_by_name_on_both(compiler, mixed, board, tmp_path):
    info = mixed[1].data.info
    x = parity.seeded_inputs(info, 1, 5)
    _, arm = compiler.compiled(mixed[1], level=3, target="arm64-generic")
    with pytest.raises(WrongDeviceError, match=rf"arm64-generic \(aarch64\).*\({platform.machine()}\)"):
        outputs("tvm", arm, info, x)
    _, here = compiler.compiled(mixed[1], level=3, target="x86-64-v2")
    told = board.run(here, info, x, tmp_path)
    assert isinstance(told, str)
    assert told.startswith("WrongDeviceError: the module was compiled for x86-64-v2 (x86_64) and was given to")
    assert "(aarch64), which lacks a processor of x86_64" in told


def test_mobilenet_keeps_its_label_and_its_outputs(compiler, mobilenet, board, tmp_path):
    path = mobilenet / "mobilenet_v2.onnx"
    imported = compiler.imported(path, parity_inputs=1)
    info = imported.data.info
    produced, module = compiler.compiled(imported, level=3, target="raspberry-pi-4b")
    assert produced.data.unscheduled == []
    x = parity.seeded_inputs(info, 2, 3)
    answered = board.run(module, info, x, tmp_path)
    assert isinstance(answered, np.ndarray), answered
    found = parity.compare(outputs("onnxruntime", path, info, x), answered)
    assert (found.n, found.top1_agreement) == (2, 1)
    assert found.max_rel < 1e-4
