"""The schedule for devices with threads; what it makes is run by the tests of the OpenCL runtime and on GPUs."""

import re

import pytest
import tvm
from deltann_compiler.build import lower
from deltann_compiler.targets import resolve

from deltann.kinds.compile import CompileParams


@pytest.mark.parametrize(
    ("level", "schedule", "last"),
    [(0, "standard", "GPUSchedule"), (3, "standard", "GPUSchedule"), (4, "naive", "ThreadPerElement")],
)
def test_every_kernel_is_bound_to_threads(compiler, nets, tmp_path, level, schedule, last):
    imported = compiler.imported(nets.mixed(tmp_path / "mixed.onnx"))
    ir = tvm.ir.load_json(compiler.store.materialise(imported.artifacts["ir"], compiler.cache).read_text())
    target = resolve("opencl")
    scheduled, passes = lower(ir, CompileParams(target="opencl", level=level, schedule=schedule), target)
    assert scheduled.unscheduled == []
    assert passes[-1] == last
    kernels = [one for _, one in scheduled.module.functions_items() if isinstance(one, tvm.tirx.PrimFunc)]
    assert len(kernels) == scheduled.kernels
    assert all('thread="blockIdx.x"' in kernel.script() for kernel in kernels)
    source = tvm.compile(scheduled.module, tvm.target.Target(target)).mod.imports[0]
    assert source.kind == "opencl" or source.imports[0].kind == "opencl"


def test_a_convolution_keeps_a_tile_in_each_threads_registers(compiler, nets, tmp_path):
    imported = compiler.imported(nets.mixed(tmp_path / "mixed.onnx"))
    ir = tvm.ir.load_json(compiler.store.materialise(imported.artifacts["ir"], compiler.cache).read_text())
    scheduled, _ = lower(ir, CompileParams(target="opencl", level=3), resolve("opencl"))
    convolutions = [
        one.script() for name, one in scheduled.module.functions_items() if re.search("conv2d", name.name_hint)
    ]
    assert len(convolutions) == 4
    for script in convolutions:
        assert 'scope="local"' in script  # the accumulators
        assert "T.vectorized(T.int64(4))" in script
        assert "pad_temp" not in script  # the border is tested where it is read
