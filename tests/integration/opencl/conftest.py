"""What ``make test-opencl`` runs: our OpenCL runtime on whatever device there is, PoCL's where there is no other."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TVM_NUM_THREADS", "1")
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # where opencl_kernels is

if importlib.util.find_spec("deltann_tvm_opencl") is None:
    collect_ignore_glob = ["test_*.py"]  # tools/opencl.sh installs it


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.opencl)


def borrowed(folder, name):
    """A file of another service's tests."""
    path = HERE.parent / folder / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"deltann_opencl_{folder}_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def nets():
    return borrowed("compiler", "nets")


@pytest.fixture(scope="session")
def compiler(tmp_path_factory):
    return borrowed("compiler", "conftest").Compiler(tmp_path_factory.mktemp("compiler"))


@pytest.fixture(scope="session")
def converter(tmp_path_factory):
    return borrowed("converter", "conftest").Converter(tmp_path_factory.mktemp("converter"))


@pytest.fixture(scope="session")
def python():
    """Runs a program in a Python of its own, with variables set; gives what it printed and its exit code."""

    def run(program, *args, **variables):
        command = [sys.executable, "-c", program, *map(str, args)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=300)
        return done.stdout + done.stderr, done.returncode

    return run
