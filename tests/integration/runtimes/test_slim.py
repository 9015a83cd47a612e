"""The wheel of TVM's runtime alone, in a Python that has it, NumPy and what it asks for, and nothing else."""

import importlib.util
import json
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from tiny_module import WEIGHTS, X, build

ROOT = Path(__file__).parents[3]
_SPEC = importlib.util.spec_from_file_location("deltann_slim_build", ROOT / "runtimes" / "slim" / "build.py")
slim = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = slim
_SPEC.loader.exec_module(slim)

BESIDE = ("numpy", "apache-tvm-ffi", "ml_dtypes", "typing_extensions")
RUN = """
import json, sys
sys.path.insert(0, sys.argv[1])
from importlib import metadata
import numpy as np
import tvm
from tvm.runtime.vm import VirtualMachine
import deltann_tvm_cuda

machine = VirtualMachine(tvm.runtime.load_module(sys.argv[2]), tvm.cpu(0))
inputs = np.load(sys.argv[3])
outputs = np.concatenate([machine["main"](tvm.runtime.tensor(x[None], tvm.cpu(0))).numpy() for x in inputs])
np.save(sys.argv[4], outputs)
try:
    deltann_tvm_cuda.load()
    cuda = "loaded"
except RuntimeError as error:
    cuda = str(error)
packages = sorted({one.metadata["Name"].lower().replace("_", "-") for one in metadata.distributions()})
print(json.dumps({"tvm": tvm.__file__, "version": metadata.version("apache-tvm"), "packages": packages, "cuda": cuda,
                  "compiler": hasattr(tvm, "relax")}))
"""


@pytest.fixture(scope="module")
def files():
    return slim.contents(slim.installed(), slim.runtime_files())


@pytest.fixture(scope="module")
def wheel(files, tmp_path_factory):
    return slim.write(slim.installed(), files, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """A folder of packages: the wheel unpacked, and those beside it as they are installed here."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    for name in BESIDE:
        for top in {one.parts[0] for one in metadata.files(name) if one.parts[0] not in ("..", "__pycache__")}:
            (folder / top).symlink_to(metadata.distribution(name).locate_file(top))
    return folder


def test_a_module_answers_as_numpy_does_with_the_runtime_alone(site, tmp_path):
    modules = build(tmp_path)
    np.save(tmp_path / "x.npy", X)
    # -I -S: neither this environment's packages nor its settings.
    command = [sys.executable, "-I", "-S", "-c", RUN, site, modules / "host.so", tmp_path / "x.npy", tmp_path / "y.npy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={})
    assert done.returncode == 0, done.stderr[-3000:]
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), np.maximum(X @ WEIGHTS, 0), rtol=1e-5, atol=1e-6)
    told = json.loads(done.stdout)
    assert Path(told["tvm"]).is_relative_to(site)
    assert told["packages"] == ["apache-tvm", "apache-tvm-ffi", "ml-dtypes", "numpy", "typing-extensions"]
    assert told["version"] == metadata.version("apache-tvm") + "+deltann.runtime"
    assert not told["compiler"]
    assert told["cuda"] == "loaded" or "NVIDIA driver" in told["cuda"] or "nvidia-cuda-runtime" in told["cuda"]


def test_it_is_a_few_megabytes_with_the_cuda_part_and_tvms_licence(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        record = next(name for name in names if name.endswith("/RECORD"))
        recorded = {line.rsplit(",", 2)[0] for line in archive.read(record).decode().splitlines()}
    assert wheel.stat().st_size < 4e6
    assert {"tvm/lib/libtvm_runtime.so", "tvm/lib/libtvm_runtime_cuda.so", "tvm/LICENSE", "tvm/NOTICE"} <= names
    assert not any("compiler" in name or name.startswith("tvm/relax") for name in names)
    assert recorded == names


def test_the_same_files_make_the_same_wheel_and_another_wheel_is_a_source_too(files, wheel, tmp_path):
    repacked = slim.packed(wheel)
    assert repacked.version == slim.version_of(slim.installed())
    assert {tag.rpartition("-")[2] for tag in repacked.tags} == {
        tag.rpartition("-")[2] for tag in slim.installed().tags
    }
    assert slim.write(slim.installed(), files, tmp_path).read_bytes() == wheel.read_bytes()
