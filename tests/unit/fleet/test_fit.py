"""Whether a device has what a module needs."""

from __future__ import annotations

import pytest

from deltann.fleet.device import DeviceInfo
from deltann.fleet.fit import lacks, processor_lacks
from deltann.targets import TARGETS

ZEN3 = DeviceInfo(
    arch="x86_64", cpu="Zen 3", cores=8, memory_bytes=1 << 34, features=TARGETS["x86-64-v3"].needs.features
)
PI4 = DeviceInfo(arch="aarch64", cpu="Cortex-A72", cores=4, memory_bytes=1 << 32, features=("asimd",))
ORIN = PI4.model_copy(
    update={"gpus": ("integrated NVIDIA GPU",), "features": TARGETS["jetson-orin"].needs.features, "board": "Orin"}
)
UNKNOWN = DeviceInfo(arch="", cpu="a board", cores=0, memory_bytes=0)
EMULATED = PI4.model_copy(update={"features": ("avx2", "sse4_2")})
DEVICES = ("an NVIDIA GPU", "an OpenCL device")


@pytest.mark.parametrize(
    ("target", "device", "missing"),
    [
        ("host", ZEN3, []),
        ("x86-64-v2", ZEN3, []),
        ("x86-64-v3", ZEN3, []),
        ("x86-64-v4", ZEN3, ["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"]),
        ("x86-64-v2", PI4, ["a processor of x86_64"]),
        ("raspberry-pi-4b", ZEN3, ["a processor of aarch64"]),
        ("raspberry-pi-4b", PI4, []),
        ("raspberry-pi-5", PI4, ["asimddp", "asimdhp", "asimdrdm", "atomics", "lrcpc"]),
        ("raspberry-pi-5", ORIN, []),
        ("cuda-sm80", ZEN3, ["an NVIDIA GPU"]),
        ("jetson-nano", PI4, ["an NVIDIA GPU"]),
        ("jetson-orin", ORIN, []),
        ("opencl", ZEN3, ["an OpenCL device"]),
        ("opencl", ZEN3.model_copy(update={"opencl": ("Tesla K40c",)}), []),
        ("raspberry-pi-5", UNKNOWN, []),
        ("raspberry-pi-5", EMULATED, []),
    ],
)
def test_what_a_device_lacks_is_named(target: str, device: DeviceInfo, missing: list[str]) -> None:
    needs = TARGETS[target].needs
    assert lacks(needs, device) == missing
    assert processor_lacks(needs, device) == [
        one for one in missing if one not in ("an NVIDIA GPU", "an OpenCL device")
    ]
