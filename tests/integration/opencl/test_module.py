"""Modules: kernels run, are saved and loaded, and are refused where they do not fit."""

import ctypes

import deltann_tvm_opencl
import numpy as np
import pytest
import tvm
import tvm_ffi
from opencl_kernels import compiled, scaled, shifted

DEVICE = tvm.device("opencl", 0)
X = np.linspace(-2, 2, 1000, dtype=np.float32)


def run(module, x, shape):
    y = tvm.runtime.empty(shape, "float32", DEVICE)
    module["main"](tvm.runtime.tensor(x, DEVICE), y)
    return y.numpy()


def exported(module, path):
    module.export_library(str(path))
    return path


def content(path):
    """What an exported library carries for devices: a length of 8 bytes, then so many."""
    library = ctypes.CDLL(str(path))
    start = ctypes.addressof(ctypes.c_char.in_dll(library, "__tvm_ffi__library_bin"))
    return ctypes.string_at(start + 8, ctypes.c_uint64.from_address(start).value)


def part(path):
    """The bytes of the OpenCL module within that."""
    held = content(path)
    begin = held.index(b"opencl") + len("opencl")
    length = int.from_bytes(held[begin : begin + 8], "little")
    return held[begin + 8 : begin + 8 + length]


def test_a_kernel_computes_what_numpy_does():
    np.testing.assert_allclose(run(compiled(scaled()), X, (1000,)), X * 3 + 1, rtol=1e-6, atol=1e-6)


def test_kernels_take_numbers_by_value():
    module = compiled(shifted())
    for rows in (1, 5, 100):
        x = np.random.default_rng(rows).random((rows, 8), dtype=np.float32)
        wanted = x + np.arange(rows)[:, None] + rows * np.arange(8)
        np.testing.assert_allclose(run(module, x, (rows, 8)), wanted, rtol=1e-6)


PLAIN = "import sys; from opencl_kernels import compiled, scaled; compiled(scaled()).export_library(sys.argv[1])"
ALONE = """
import sys, numpy as np, tvm
device = tvm.device("opencl", 0)
module = tvm.runtime.load_module(sys.argv[1])
y = tvm.runtime.empty((1000,), "float32", device)
module["main"](tvm.runtime.tensor(np.ones(1000, np.float32), device), y)
print(tvm._RUNTIME_ONLY, set(y.numpy()))
"""


def test_what_is_saved_is_byte_for_byte_what_tvm_saves(python, tmp_path):
    """TVM's compiler without our runtime writes its own format; ours writes the same, compiled or loaded."""
    plain = tmp_path / "plain.so"
    printed, code = python(PLAIN, plain, TVM_DEVICE_BACKEND_AUTOLOAD="0")
    assert code == 0, printed
    mine = compiled(scaled())
    assert content(exported(mine, tmp_path / "mine.so")) == content(plain)
    loaded = tvm.runtime.load_module(str(plain)).imports[0]
    assert loaded.kind == "opencl"
    mine.clear_imports()
    mine.import_module(loaded)
    assert content(exported(mine, tmp_path / "again.so")) == content(plain)


def test_tvms_runtime_alone_runs_it(python, tmp_path):
    path = exported(compiled(scaled()), tmp_path / "module.so")
    printed, code = python(ALONE, path, TVM_USE_RUNTIME_LIB="1")
    assert code == 0, printed
    assert printed.splitlines()[-1] == "True {np.float32(4.0)}"


def load(data):
    return tvm_ffi.get_global_func("ffi.Module.load_from_bytes.opencl")(data)


def test_damaged_bytes_are_refused(tmp_path):
    whole = part(exported(compiled(scaled()), tmp_path / "module.so"))
    assert load(whole).kind == "opencl"
    for end in range(0, len(whole), 7):
        with pytest.raises(RuntimeError, match="cut short or damaged"):
            load(whole[:end])
    with pytest.raises(RuntimeError, match="another version of TVM"):
        load(whole + b"\0")
    lying = whole.replace(len(b"main_kernel").to_bytes(8, "little"), (1 << 40).to_bytes(8, "little"), 1)
    with pytest.raises(RuntimeError, match="cut short or damaged"):
        load(lying)


def test_a_kernel_that_does_not_compile_is_told_with_the_compilers_words(tmp_path):
    path = exported(compiled(scaled()), tmp_path / "module.so")
    path.write_bytes(path.read_bytes().replace(b"get_local_id", b"get_nowhere_"))
    refused = r"refused the module's kernels, with CL_BUILD_PROGRAM_FAILURE \(-11\): .*error.*get_nowhere_"
    with pytest.raises(RuntimeError, match=refused):
        run(tvm.runtime.load_module(str(path)), X, (1000,))


def test_half_precision_is_refused_where_the_device_has_none():
    module = compiled(scaled("float16"))
    if deltann_tvm_opencl.devices()[0]["fp16"]:
        np.testing.assert_allclose(run(module, X.astype(np.float16), (1000,)), X * 3 + 1, atol=1e-2)
        return
    with pytest.raises(RuntimeError, match=r"half precision \(fp16\), and .* has no cl_khr_fp16: compile it in fp32"):
        run(module, X.astype(np.float16), (1000,))


def test_too_large_a_group_is_told_with_the_devices_limit():
    most = DEVICE.max_threads_per_block
    module = compiled(scaled(threads=4 * most), max_num_threads=4 * most, max_threads_per_block=4 * most)
    with pytest.raises(RuntimeError, match=rf"groups of {4 * most} work items, and .* runs at most {most}"):
        run(module, X, (1000,))
