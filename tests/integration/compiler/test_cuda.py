"""Modules for NVIDIA GPUs, compiled without one: machine code in them, read by TVM's own CUDA runtime."""

import shutil
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from deltann_compiler.build import export, lower
from deltann_compiler.targets import needs_of, resolve
from deltann_engines import elf
from deltann_engines.base import load

from deltann.errors import JobFailure, WrongDeviceError
from deltann.kinds.compile import CompileParams
from deltann.outcome import Outcome
from deltann.targets import TARGETS, read_target

SERVER = TARGETS["x86-64-v2"].tvm
DRIVER = """
#define CALL(name) int name(void) { return 100; }
CALL(cuDeviceGetName) CALL(cuFuncSetAttribute) CALL(cuGetErrorName) CALL(cuGetErrorString) CALL(cuLaunchKernelEx)
CALL(cuModuleGetFunction) CALL(cuModuleLoadData) CALL(cuModuleUnload) CALL(cuTensorMapEncodeTiled)
"""
"""An NVIDIA driver without a GPU: what TVM's CUDA runtime is linked with, and each call fails with "no device"."""

READ = """
import ctypes, sys
from pathlib import Path
ctypes.CDLL(sys.argv[1])
from deltann_engines import tvm_cuda
import tvm
tvm_cuda.load()
def cuda(module):
    return module if module.kind == "cuda" else next(filter(None, map(cuda, module.imports)), None)
found = cuda(tvm.runtime.load_module(sys.argv[2]))
packed = tvm.get_global_func("runtime.ModulePackImportsToTensor")(found).numpy().tobytes()
Path(sys.argv[3]).write_bytes(packed)
"""


@pytest.fixture(scope="module")
def ir(compiler, nets, tmp_path_factory):
    imported = compiler.imported(nets.mixed(tmp_path_factory.mktemp("nets") / "mixed.onnx"))
    return compiler.store.read(imported.artifacts["ir"]).decode(), imported.data.info


@pytest.fixture(scope="module")
def compiled(ir, tmp_path_factory):
    """From an architecture and a level to the module's path and what was recorded of its kernels."""
    import tvm

    folder = tmp_path_factory.mktemp("cuda")

    @cache
    def compile_for(arch, level=3):
        path, text = folder / f"{arch}-{level}.so", read_target({"kind": "cuda", "arch": arch, "host": SERVER})
        target = resolve(text)
        scheduled, passes = lower(tvm.ir.load_json(ir[0]), CompileParams(target=text, level=level), target)
        assert (scheduled.unscheduled, passes[-1]) == ([], "GPUSchedule")
        return path, export(scheduled.module, target, path, needs_of(text, target)), scheduled.kernels

    return compile_for


@pytest.mark.parametrize(("arch", "level", "version"), [("sm_72", 0, "12."), ("sm_110", 4, "13.")])
def test_a_module_holds_machine_code_and_no_source(compiled, arch, level, version):
    path, code, kernels = compiled(arch, level)
    whole = path.read_bytes()
    assert b"__global__" not in whole
    assert whole.count(b"\x7fELF") == 2  # the library, and the code within it
    assert code.arch == arch
    assert code.compiler.startswith(f"NVRTC {version}")
    assert len(code.kernels) >= kernels
    assert all(1 <= kernel.registers <= 255 and kernel.spill_store_bytes == 0 for kernel in code.kernels)


def test_tvms_own_runtime_reads_the_machine_code_that_was_packed(compiled, tmp_path):
    try:
        metadata.distribution("nvidia-cuda-runtime")
    except metadata.PackageNotFoundError:
        pytest.skip("nvidia-cuda-runtime is not installed: TVM's CUDA runtime is linked with it")
    path, code, _ = compiled("sm_80")
    (tmp_path / "driver.c").write_text(DRIVER)
    driver = tmp_path / "libcuda.so.1"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", driver, tmp_path / "driver.c"], check=True
    )
    command = [sys.executable, "-c", READ, driver, path, tmp_path / "read"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    read = (tmp_path / "read").read_bytes()
    record = read[read.index(b"cuda") - 8 :]  # behind the tree of imports: the kind with its length, and the module
    assert record in path.read_bytes()
    assert record.count(b"\x7fELF") == 1
    assert len(record) > code.size_bytes
    assert all(kernel.name.encode() in record for kernel in code.kernels)


def test_a_jetsons_module_is_linked_for_its_processor(ir, tmp_path):
    import tvm

    if shutil.which("aarch64-linux-gnu-gcc") is None:
        pytest.skip("there is no aarch64-linux-gnu-gcc: apt-get install gcc-aarch64-linux-gnu")
    target = resolve("jetson-orin")
    scheduled, _ = lower(tvm.ir.load_json(ir[0]), CompileParams(target="jetson-orin", level=3), target)
    code = export(scheduled.module, target, tmp_path / "orin.so", needs_of("jetson-orin", target))
    assert elf.read(tmp_path / "orin.so") == elf.Header("aarch64", whole=True)
    assert code.arch == "sm_87"


def test_kernels_that_nvrtc_refuses_are_a_failure_in_its_words(compiled):
    import tvm_ffi

    tvm_ffi.register_global_func("tvm_callback_cuda_postproc", lambda code, target: code.replace("blockIdx", "block"))
    try:
        with pytest.raises(
            JobFailure, match=r'NVRTC 12.* refuses .* for sm_80: .*identifier "block" is undefined'
        ) as no:
            compiled("sm_80", 1)
    finally:
        tvm_ffi.registry.remove_global_func("tvm_callback_cuda_postproc")
    assert no.value.outcome is Outcome.COMPILE_FAILED


def test_without_a_gpu_the_engine_says_what_the_module_needs_and_what_the_host_lacks(compiled, ir):
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this host has an NVIDIA GPU")
    path, _, _ = compiled("sm_80")
    with pytest.raises(WrongDeviceError, match=r"sm_80.*\(This host has no NVIDIA driver.*execute in a pool"):
        load("tvm", path, ir[1])


@pytest.mark.gpu
@pytest.mark.parametrize("level", range(5))
def test_on_a_gpu_every_level_answers_as_onnx_runtime(compiled, nets, ir, tmp_path, level):
    from deltann_engines import parity
    from deltann_engines.accelerators import device_of
    from deltann_engines.describe import describe

    path, _, _ = compiled("sm_" + device_of("cuda").compute_version.replace(".", ""), level)
    model = nets.mixed(tmp_path / "mixed.onnx")
    x = parity.seeded_inputs(ir[1], 3, 5)
    with load("onnxruntime", model, describe(model, "onnx")) as session:
        expected = parity.outputs(session, x)
    with load("tvm", path, ir[1]) as session:
        assert parity.compare(expected, parity.outputs(session, x)).max_rel < 1e-4
