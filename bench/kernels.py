"""Says where a compiled module's time goes: each kernel beside the least time that this core could take for it.

usage: bench/kernels.py MODEL [--level N] [--folder DIR] [--rows N] [--json]

The least time of a kernel is the larger of two: its multiply-adds at the core's peak, and its tensors, each read or
written once, at the core's bandwidth out of the last-level cache. Both are measured first, on one thread, the peak by a
loop of independent multiply-adds in registers. All clocks are CPU time; a kernel's time is its median of the rounds.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from compiled import SOURCES, compile_onnx, onnx_file

_PEAK = r"""
#include <string.h>
typedef float lanes __attribute__((vector_size(WIDTH)));
float products(long times) {
    lanes sums[12], x, y;
    memset(sums, 0, sizeof sums);
    for (int i = 0; i < WIDTH / 4; i++) x[i] = y[i] = 0.5f;
    for (long t = 0; t < times; t++) {
        __asm__ volatile("" : "+x"(x), "+x"(y));
        for (int i = 0; i < 12; i++) sums[i] += x * y;
    }
    float all = 0;
    for (int i = 0; i < 12; i++) all += sums[i][0];
    return all;
}
"""
_CACHED = 8 * 2**20
"""Bytes of a copy whose both sides stay in the last-level cache of most machines and not in the second."""


@dataclass(frozen=True)
class Kernel:
    """A kernel's calls in one inference, summed up: milliseconds, the least it could take, and what it does."""

    name: str
    calls: int
    ms: float
    least_ms: float
    gflop: float
    mib: float


def peak_gflops() -> float:
    """Multiply-adds of float32 vectors a second on one core, times two, in 10⁹."""
    flags = Path("/proc/cpuinfo").read_text()
    width = 64 if "avx512f" in flags else 32 if "avx2" in flags else 16
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "peak.c"), Path(folder, "peak.so")
        source.write_text(_PEAK)
        options = ["-O3", "-march=native", "-ffast-math", f"-DWIDTH={width}", "-shared", "-fPIC"]
        subprocess.run(["cc", *options, source, "-o", library], check=True)
        products = ctypes.CDLL(str(library)).products
        products.argtypes, products.restype = [ctypes.c_long], ctypes.c_float
        times = 5_000_000
        return 2 * 12 * times * width / 4 / min(_cpu_seconds(lambda: products(times)) for _ in range(9)) / 1e9


def bandwidth_gibps() -> float:
    """Bytes read and written a second by a copy in the last-level cache on one core, in 2³⁰."""
    source, target = np.ones(_CACHED // 8, np.float32), np.empty(_CACHED // 8, np.float32)

    def copy() -> None:
        for _ in range(20):
            np.copyto(target, source)

    copy()
    return 20 * _CACHED / min(_cpu_seconds(copy) for _ in range(9)) / 2**30


def _cpu_seconds(work: Any) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _gflop(name: str, shapes: list[tuple[int, ...]]) -> float:
    """10⁹ operations of a product: twice the output's pixels times the weights. The output is the last tensor."""
    if "conv2d" not in name and "matmul" not in name:
        return 0.0
    packed = [shape for shape in shapes if len(shape) == 5]
    pixels = prod(shapes[-1][:-1])
    weights = prod(packed[0]) if packed else prod(shapes[1])
    return 2 * pixels * weights / 1e9


def traced(module: Path, onnx: Path, rounds: int, peak: float, bandwidth: float) -> list[Kernel]:
    """Every kernel of a module, most time first."""
    from deltann_engines import parity, tvm_engine
    from deltann_engines.describe import describe

    from deltann.engines import DEFAULT

    tvm_engine.prepare(1, DEFAULT)
    import tvm
    from tvm.runtime.vm import VirtualMachine

    info = describe(onnx, "onnx")
    shape = tuple(1 if side is None else side for side in info.input.shape)
    info = info.model_copy(update={"input": info.input.model_copy(update={"shape": shape})})
    x = tvm.runtime.tensor(parity.seeded_inputs(info, 1, 0))
    machine = VirtualMachine(tvm.runtime.load_module(str(module)), tvm.cpu())
    calls: list[tuple[str, float, list[tuple[int, ...]]]] = []
    began = 0.0

    def watch(function: Any, name: str, before: bool, result: Any, *args: Any) -> int:
        nonlocal began
        if name.startswith("vm.builtin"):
            return 0
        if before:
            began = time.thread_time()
        else:
            took = time.thread_time() - began
            calls.append((name, took, [tuple(arg.shape) for arg in args if hasattr(arg, "shape")]))
        return 0

    machine["main"](x)
    machine.set_instrument(watch)
    passes = []
    for _ in range(rounds):
        calls.clear()
        machine["main"](x)
        passes.append(list(calls))
    kernels: dict[str, Kernel] = {}
    for same in zip(*passes, strict=True):
        name, shapes = same[0][0], same[0][2]
        gflop, mib = _gflop(name, shapes), sum(4 * prod(shape) for shape in shapes) / 2**20
        one = Kernel(
            name,
            1,
            1e3 * statistics.median(call[1] for call in same),
            1e3 * max(gflop / peak, mib / 1024 / bandwidth),
            gflop,
            mib,
        )
        before = kernels.get(name, Kernel(name, 0, 0, 0, 0, 0))
        kernels[name] = Kernel(name, *(a + b for a, b in zip(_numbers(before), _numbers(one), strict=True)))
    return sorted(kernels.values(), key=lambda kernel: -kernel.ms)


def _numbers(kernel: Kernel) -> tuple[Any, ...]:
    return (kernel.calls, kernel.ms, kernel.least_ms, kernel.gflop, kernel.mib)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=SOURCES)
    parser.add_argument("--level", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path.home() / ".cache/deltann/bench")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--rows", type=int, default=25)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    peak, bandwidth = peak_gflops(), bandwidth_gibps()
    onnx = onnx_file(options.model, options.folder)
    with tempfile.TemporaryDirectory(prefix="deltann-bench-") as folder:
        module = Path(folder, "module.so")
        compile_onnx(onnx, options.level, module)
        kernels = traced(module, onnx, options.rounds, peak, bandwidth)
    if options.json:
        print(json.dumps({"peak_gflops": peak, "bandwidth_gibps": bandwidth, "kernels": [asdict(k) for k in kernels]}))
        return
    total, least = sum(kernel.ms for kernel in kernels), sum(kernel.least_ms for kernel in kernels)
    print(f"peak {peak:.0f} GFLOP/s, bandwidth {bandwidth:.1f} GiB/s; {total:.1f} ms, at least {least:.1f} ms")
    print("     ms   least calls GFLOP/s GiB/s  kernel")
    for kernel in kernels[: options.rows]:
        print(
            f"{kernel.ms:7.2f}{kernel.least_ms:8.2f}{kernel.calls:6}{kernel.gflop / kernel.ms * 1e3:8.0f}"
            f"{kernel.mib / 1.024 / kernel.ms:6.1f}  {kernel.name[:90]}"
        )


if __name__ == "__main__":
    main()
