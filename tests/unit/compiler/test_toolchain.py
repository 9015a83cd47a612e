"""What a compiled module's key holds of the tools that made it."""

import pytest
from deltann_compiler.service import COMPILE

from deltann.kinds.compile import CompileParams
from deltann.targets import read_target

CUDA = {"kind": "cuda", "arch": "sm_120", "host": {"kind": "llvm", "mcpu": "x86-64-v2"}}


@pytest.mark.parametrize(
    ("target", "with_nvrtc"),
    [
        ("host", False),
        ("opencl", False),
        ("arm/rk3399", False),
        ("cuda-sm80", True),
        ("jetson-orin", True),
        ("nvidia/jetson-agx-xavier", True),
        (read_target(CUDA), True),
        (read_target({"kind": "llvm", "mcpu": "znver4"}), False),
    ],
)
def test_the_version_of_cudas_compiler_counts_where_it_is_used(target, with_nvrtc):
    tools = COMPILE.toolchain(CompileParams(target=target, level=2))
    assert ("nvidia-cuda-nvrtc" in tools) is with_nvrtc
    assert "apache-tvm" in tools
