"""The named targets. A name means the same on every machine that compiles, ``host`` excepted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from deltann.targets.needs import Needs

HOST = "host"
"""The processor of the machine that compiles."""

_V2 = ("cx16", "lahf_lm", "pni", "popcnt", "sse4_1", "sse4_2", "ssse3")
_V3 = tuple(sorted([*_V2, "abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"]))
_V4 = tuple(sorted([*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"]))
_V8_0 = ("asimd",)
_CARMEL = ("asimd", "asimdhp", "asimdrdm", "atomics")
_V8_2 = ("asimd", "asimddp", "asimdhp", "asimdrdm", "atomics", "lrcpc")


@dataclass(frozen=True)
class NamedTarget:
    """A target by name.

    Args:
        name: what a person gives.
        tvm: what TVM takes; empty for ``host``, which is found out where it compiles.
        needs: what a device must have to run its modules.
        about: the device, and where it was measured.
    """

    name: str
    tvm: dict[str, Any]
    needs: Needs
    about: str


def _x86_64(mcpu: str) -> dict[str, Any]:
    return {"kind": "llvm", "mtriple": "x86_64-linux-gnu", "mcpu": mcpu}


def _aarch64(mcpu: str, cores: int | None = None) -> dict[str, Any]:
    """``+neon`` is said although it always holds: TVM decides by it whether there are vectors."""
    target = {"kind": "llvm", "mtriple": "aarch64-linux-gnu", "mcpu": mcpu, "mattr": ["+neon"]}
    return target if cores is None else {**target, "num-cores": cores}


def _processors() -> Iterator[NamedTarget]:
    for name, tvm, features, about in (
        ("x86-64-v2", _x86_64("x86-64-v2"), _V2, "Any x86-64 processor since 2009: SSE4.2, 4 lanes"),
        ("x86-64-v3", _x86_64("x86-64-v3"), _V3, "Intel since Haswell (2013), AMD since Excavator: AVX2, 8 lanes"),
        ("x86-64-v4", _x86_64("x86-64-v4"), _V4, "Intel servers since Skylake, AMD since Zen 4: AVX-512, 16 lanes"),
        ("arm64-generic", _aarch64("generic"), _V8_0, "Any 64-bit ARM processor (ARMv8.0)"),
        ("raspberry-pi-4b", _aarch64("cortex-a72", 4), _V8_0, "Raspberry Pi 4 B: 4 Cortex-A72"),
        ("raspberry-pi-5", _aarch64("cortex-a76", 4), _V8_2, "Raspberry Pi 5: 4 Cortex-A76"),
        ("rk3399", _aarch64("cortex-a72", 6), _V8_0, "Rockchip RK3399 (Firefly, RockPro64): 2 Cortex-A72, 4 A53"),
        ("hikey-970", _aarch64("cortex-a73", 8), _V8_0, "DeltaNN's HiKey 970, its processor: 4 Cortex-A73, 4 A53"),
    ):
        machine = tvm["mtriple"].partition("-")[0]
        yield NamedTarget(name, tvm, Needs(target=name, machine=machine, features=features), about)


def _gpus() -> Iterator[NamedTarget]:
    server, old_board = _x86_64("x86-64-v2"), _aarch64("cortex-a57", 4)
    for name, arch, host, features, about in (
        ("jetson-nano", "sm_53", old_board, _V8_0, "NVIDIA Jetson Nano: Maxwell"),
        ("jetson-tx2", "sm_62", old_board, _V8_0, "NVIDIA Jetson TX2: Pascal"),
        ("jetson-xavier", "sm_72", _aarch64("carmel", 8), _CARMEL, "DeltaNN's NVIDIA AGX Xavier: Volta"),
        ("jetson-orin", "sm_87", _aarch64("cortex-a78ae", 12), _V8_2, "NVIDIA Jetson Orin: Ampere"),
        ("cuda-sm70", "sm_70", server, _V2, "NVIDIA V100: Volta"),
        ("cuda-sm75", "sm_75", server, _V2, "NVIDIA T4, RTX 20: Turing"),
        ("cuda-sm80", "sm_80", server, _V2, "NVIDIA A100, A30: Ampere"),
        ("cuda-sm86", "sm_86", server, _V2, "NVIDIA A10, A40, RTX 30: Ampere"),
        ("cuda-sm89", "sm_89", server, _V2, "NVIDIA L4, L40, RTX 40: Ada"),
        ("cuda-sm90", "sm_90", server, _V2, "NVIDIA H100, H200: Hopper"),
    ):
        machine = host["mtriple"].partition("-")[0]
        needs = Needs(target=name, runtime="cuda", machine=machine, features=features, arch=arch)
        yield NamedTarget(name, {"kind": "cuda", "arch": arch, "host": host}, needs, about)
    for name, limits, host, features, about in (
        ("opencl", {}, server, _V2, "Any OpenCL device, with the limits that all have"),
        ("tesla-k40c", _limits(1024, 49152, 32), server, _V2, "DeltaNN's NVIDIA Tesla K40c, by OpenCL"),
        ("intel-gen9", _limits(256, 65536, 16), server, _V2, "DeltaNN's Intel GEN9 HD Graphics NEO"),
        ("mali-g72", {"device": "mali"}, _aarch64("cortex-a73", 8), _V8_0, "DeltaNN's HiKey 970, its Mali-G72"),
    ):
        machine = host["mtriple"].partition("-")[0]
        needs = Needs(target=name, runtime="opencl", machine=machine, features=features)
        yield NamedTarget(name, {"kind": "opencl", **limits, "host": host}, needs, about)


def _limits(threads: int, shared_bytes: int, warp: int) -> dict[str, Any]:
    return {
        "max_num_threads": threads,
        "max_threads_per_block": threads,
        "max_shared_memory_per_block": shared_bytes,
        "thread_warp_size": warp,
    }


_HERE = NamedTarget(HOST, {}, Needs(target=HOST), "The processor of the machine that compiles, all its features")

TARGETS: dict[str, NamedTarget] = {one.name: one for one in (_HERE, *_processors(), *_gpus())}
"""By name, in the order in which they are listed."""
