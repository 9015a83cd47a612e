"""Devices: what they are, memory, copies, time, and which of several is meant."""

import json
import time

import deltann_tvm_opencl
import numpy as np
import pytest
import tvm
from opencl_kernels import compiled, scaled

DEVICE = tvm.device("opencl", 0)
TWO = {"POCL_DEVICES": "pthread pthread"}
LIST = "import runpy; runpy.run_module('deltann_tvm_opencl', run_name='__main__')"


def test_a_device_tells_what_it_is():
    (first, *_) = deltann_tvm_opencl.devices()
    assert DEVICE.exist
    assert DEVICE.device_name == first["name"]
    assert DEVICE.total_global_memory == first["memory_bytes"] > 1 << 28
    assert DEVICE.api_version == first["version"]
    assert first["version"].startswith(f"OpenCL {DEVICE.compute_version}")
    assert DEVICE.driver_version == first["driver"]
    assert DEVICE.max_threads_per_block >= 64
    assert len(DEVICE.max_thread_dimensions) == 3
    assert max(DEVICE.max_thread_dimensions) <= DEVICE.max_threads_per_block * 1024
    assert DEVICE.max_shared_memory_per_block >= 16 << 10
    assert DEVICE.multi_processor_count >= 1
    assert DEVICE.warp_size == 1
    assert DEVICE.available_global_memory is None  # OpenCL does not tell


def test_tensors_come_back_as_they_went():
    for x in (np.arange(7, dtype=np.int8), np.random.default_rng(0).random((3, 5)), np.zeros((0, 4), np.float32)):
        there = tvm.runtime.tensor(x, DEVICE)
        again = tvm.runtime.empty(x.shape, str(x.dtype), DEVICE)
        there.copyto(again)
        np.testing.assert_array_equal(again.numpy(), x)


def test_a_device_that_is_not_there_is_named_with_those_that_are():
    assert not tvm.device("opencl", 9).exist
    with pytest.raises(RuntimeError, match=r"no device opencl:9: this host has \d+ \(.+\), counted from 0"):
        tvm.runtime.empty((3,), "float32", tvm.device("opencl", 9))


def test_a_tensor_larger_than_any_buffer_is_refused():
    with pytest.raises(RuntimeError, match=r"does not fit on .*, which has buffers of at most \d+ bytes"):
        tvm.runtime.empty((1 << 45,), "float32", DEVICE)


def test_the_timer_reads_the_devices_clock():
    module = compiled(scaled())
    x = tvm.runtime.tensor(np.ones(1000, np.float32), DEVICE)
    y = tvm.runtime.empty((1000,), "float32", DEVICE)
    began = time.perf_counter()
    measured = module.time_evaluator("main", DEVICE, number=20, repeat=3)(x, y).results
    took = time.perf_counter() - began
    assert len(measured) == 3
    assert all(one > 0 for one in measured)
    assert 20 * sum(measured) < took


@pytest.mark.parametrize(
    ("choice", "found"),
    [({}, 2), ({"DELTANN_OPENCL_DEVICES": "1"}, 1), ({"DELTANN_OPENCL_DEVICES": " , PTHREAD"}, 2)],
)
def test_devices_are_chosen_by_index_and_by_name(python, choice, found):
    printed, code = python(LIST, **TWO, **choice)
    assert code == 0, printed
    devices = json.loads(printed.splitlines()[-1])
    assert len(devices) == found
    assert {"name", "platform", "version", "driver", "memory_bytes", "fp16"} == set(devices[0])


COPY = """
import numpy as np, tvm
from opencl_kernels import compiled, scaled
first, second = tvm.device("opencl", 0), tvm.device("opencl", 1)
x = tvm.runtime.tensor(np.arange(1000, dtype=np.float32), first)
there, y = (tvm.runtime.empty((1000,), "float32", second) for _ in range(2))
x.copyto(there)
module = compiled(scaled())
module["main"](there, y)
back = tvm.runtime.empty((1000,), "float32", first)
module["main"](x, back)
wanted = np.arange(1000, dtype=np.float32) * 3 + 1
print(np.array_equal(y.numpy(), wanted), np.array_equal(back.numpy(), wanted))
"""


def test_several_devices_work_side_by_side(python):
    printed, code = python(COPY, **TWO)
    assert (printed.splitlines()[-1], code) == ("True True", 0), printed


TOUCH = "import tvm; tvm.runtime.empty((3,), 'float32', tvm.device('opencl', 0))"


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"DELTANN_OPENCL_DEVICES": "mali"}, "names mali, and no OpenCL device of this host is called so (0: Portable"),
        ({"OCL_ICD_VENDORS": "/nowhere/"}, "This host has no OpenCL device: no driver (ICD) is registered"),
    ],
)
def test_no_device_says_why(python, variables, told):
    printed, code = python(TOUCH, **variables)
    assert code == 1
    assert told in printed.splitlines()[-1]
    assert "False" in python("import tvm; print(tvm.device('opencl', 0).exist)", **variables)[0]


def test_a_host_without_an_opencl_loader_is_told_what_to_install():
    told = deltann_tvm_opencl._explain("libOpenCL.so.1: cannot open shared object file: No such file or directory")
    assert "its loader, libOpenCL.so.1, is missing" in told
    assert "ocl-icd-libopencl1" in told
