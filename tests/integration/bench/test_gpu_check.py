"""The run of `bench/gpu_check.py` as it is on another machine, over a folder with one tiny network."""

import json
import lzma
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tiny_module import WEIGHTS, X, build

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("check")
    library = build(tmp_path_factory.mktemp("tiny")) / "host.so"
    for name, expected in {"right": np.maximum(X @ WEIGHTS, 0), "wrong": np.maximum(X @ WEIGHTS, 0)[::-1]}.items():
        (folder / f"{name}.cpu.so.xz").write_bytes(lzma.compress(library.read_bytes()))
        np.save(folder / f"{name}.in.npy", X)
        np.save(folder / f"{name}.out.npy", expected)
    (folder / "check.json").write_text(json.dumps({"archs": ["sm_90"], "models": ["right", "wrong", "absent"]}))
    (folder / "wheels").mkdir()
    with zipfile.ZipFile(folder / "wheels" / "loader-1-py3-none-any.whl", "w") as wheel:
        wheel.write(ROOT / "engines" / "deltann_engines" / "tvm_cuda.py", "deltann_tvm_cuda.py")
    return folder


def run(folder, *args):
    command = [sys.executable, ROOT / "bench" / "gpu_check.py", "run", folder, "--seconds", "2400", *args]
    environment = {**os.environ, "TVM_USE_RUNTIME_LIB": "1"}  # as where the wheel of the runtime alone is
    return subprocess.run(command, capture_output=True, text=True, timeout=550, env=environment)


def test_each_network_is_held_against_its_answers_and_one_that_fails_stops_no_other(folder, tmp_path):
    done = run(folder, "--device", "cpu", "--json", tmp_path / "rows.json")
    assert done.returncode == 1, done.stderr
    right, wrong, absent = json.loads((tmp_path / "rows.json").read_text())
    assert json.loads(done.stdout.splitlines()[-1]) == [right, wrong, absent]
    assert (right["ok"], right["same_labels"]) == (True, "6/6")
    assert right["max_rel"] < 1e-6
    assert 0 < right["low_ms"] <= right["median_ms"] <= right["high_ms"]
    assert wrong["ok"] is False
    assert wrong["max_rel"] > 0.1
    assert "absent" in absent["error"]


def test_without_a_gpu_it_says_so_in_a_sentence(folder):
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this host has an NVIDIA GPU")
    done = run(folder)
    assert done.returncode == 3
    assert done.stderr == "The networks were not run: This host has no NVIDIA driver: libcuda.so.1 is not there.\n"
