"""Measures compiled modules against ONNX Runtime, interleaved, pinned, each runtime in a process of its own.

usage: bench/compiled.py [--models NAME…] [--threads 1 2] [--levels 0 1 2 3 4] [--rounds N] [--json]

A round runs ONNX Runtime and then the module, each for some 300 ms, and its ratio is the module's time over ONNX
Runtime's. A row's ``ratio`` is the median over the rounds, in an interval that holds it at 95 % (by order statistics).
The clock is wall time; ``--clock cpu`` takes the processes' CPU time instead, which says the same on one thread and
which a busy machine spoils less. To reach: 1.05 on each model, 1.00 on at least four; 15 CPU seconds to compile, 4 GiB.

Models are converted to ONNX once and kept in ``--folder``; weights of all but EfficientNet-Lite0, and of MobileNetV2
where the shared data is, are random.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("DELTANN_SHARED", REPOSITORY.parent / "shared")) / "data/models"
SOURCES = {
    "mobilenet_v2": "torchvision:mobilenet_v2@random(seed=1)",
    "efficientnet_lite0": "efficientnet_lite0",
    "resnet50": "torchvision:resnet50@random(seed=1)",
    "resnet101v2": "keras:ResNet101V2@random(seed=1)",
    "inception_v3": "torchvision:inception_v3@random(seed=1)",
    "densenet121": "torchvision:densenet121@random(seed=1)",
}
ROUND_S = 0.3


@dataclass(frozen=True)
class Row:
    """One model, level and number of threads: a module's time over ONNX Runtime's, and what compiling took."""

    model: str
    threads: int
    level: int
    ratio: float
    ratio_low: float
    ratio_high: float
    module_ms: float
    onnxruntime_ms: float
    compile_cpu_s: float
    compile_rss_gib: float


def onnx_file(name: str, folder: Path) -> Path:
    """The model as ONNX: the shared one, the one made before, or made now."""
    shared = SHARED / name / f"{name}.onnx"
    if shared.exists():
        return shared
    path = folder / f"{name}.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [Path(sys.executable).with_name("deltann"), "convert", SOURCES[name], "--to", "onnx", "--out", path],
            check=True,
            stdout=sys.stderr,
        )
    return path


def compile_onnx(onnx: Path, level: int, module: Path) -> dict[str, float]:
    """Import and compile; CPU seconds of the compilation and the process's peak memory in GiB."""
    from deltann_compiler import frontends
    from deltann_compiler.build import export, lower
    from deltann_compiler.compiling import target_of
    from deltann_compiler.targets import needs_of
    from deltann_engines.describe import describe

    from deltann.kinds.compile import CompileParams

    params = CompileParams(level=level)
    ir, _ = frontends.load(onnx, describe(onnx, "onnx"))
    began = time.process_time()
    target = target_of(params)
    scheduled, _ = lower(ir, params, target)
    if scheduled.unscheduled:
        print(f"{onnx.stem}: without a schedule: {', '.join(scheduled.unscheduled)}", file=sys.stderr)
    export(scheduled.module, target, module, needs_of(params.target, target))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"compile_cpu_s": time.process_time() - began, "compile_rss_gib": peak}


def serve(engine: Any, path: Path, onnx: Path, threads: int) -> None:
    """A runtime's process: answers each number of inferences with the seconds of wall and CPU time they took."""
    from deltann_engines import parity
    from deltann_engines.base import load
    from deltann_engines.describe import describe

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    info = describe(onnx, "onnx")
    shape = tuple(1 if side is None else side for side in info.input.shape)
    info = info.model_copy(update={"input": info.input.model_copy(update={"shape": shape})})
    x = parity.seeded_inputs(info, 1, 0)
    with load(engine, path, info, threads) as session:
        print(json.dumps(session.run(x).ravel().tolist()), flush=True)
        for line in sys.stdin:
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(int(line)):
                session.run(x)
            took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
            print(json.dumps(took), flush=True)


class Runtime:
    """A runtime in its process."""

    def __init__(self, inward: IO[str], outward: IO[str], clock: str) -> None:
        self._in, self._out, self._clock = inward, outward, clock
        self.answer: list[float] = json.loads(self._out.readline())

    def seconds(self, times: int) -> float:
        """Seconds of one inference, over so many."""
        self._in.write(f"{times}\n")
        self._in.flush()
        return float(json.loads(self._out.readline())[self._clock]) / times


@contextmanager
def runtime(engine: str, path: Path, onnx: Path, threads: int, clock: str) -> Iterator[Runtime]:
    command = [sys.executable, __file__, "--serve", engine, str(path), str(onnx), str(threads)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        yield Runtime(process.stdin, process.stdout, clock)
        process.stdin.close()


def interval(values: list[float]) -> tuple[float, float]:
    """The narrowest pair of order statistics that holds the median at 95 %, or all there is of fewer than six."""
    ordered, n = sorted(values), len(values)
    outside, rank = 0.0, 0
    while (outside := outside + math.comb(n, rank) / 2**n) <= 0.025:
        rank += 1
    rank = max(rank - 1, 0)
    return ordered[rank], ordered[n - 1 - rank]


def measure(
    onnx: Path, module: Path, threads: int, rounds: int, clock: str
) -> tuple[list[float], list[float], list[float]]:
    """Ratios, and seconds of an inference of the module and of ONNX Runtime, a round each."""
    with (
        runtime("onnxruntime", onnx, onnx, threads, clock) as theirs,
        runtime("tvm", module, onnx, threads, clock) as ours,
    ):
        largest = max(map(abs, theirs.answer))
        apart = max(abs(a - b) for a, b in zip(theirs.answer, ours.answer, strict=True))
        if not apart <= 1e-3 * largest:
            raise SystemExit(f"{onnx.stem}: the module answers otherwise, by {apart:.2g} of at most {largest:.2g}")
        their, our = [], []
        times = [max(1, round(ROUND_S / one.seconds(2))) for one in (theirs, ours)]
        for _ in range(rounds):
            their.append(theirs.seconds(times[0]))
            our.append(ours.seconds(times[1]))
    return [a / b for a, b in zip(our, their, strict=True)], our, their


def rows(options: argparse.Namespace) -> Iterator[Row]:
    for name in options.models:
        onnx = onnx_file(name, options.folder)
        for level in options.levels:
            with tempfile.TemporaryDirectory(prefix="deltann-bench-") as folder:
                module = Path(folder, "module.so")
                command = [sys.executable, __file__, "--compile", str(onnx), str(level), str(module)]
                compiled = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
                for threads in options.threads:
                    ratios, ours, theirs = measure(onnx, module, threads, options.rounds, options.clock)
                    low, high = interval(ratios)
                    module_ms, onnxruntime_ms = (statistics.median(each) * 1e3 for each in (ours, theirs))
                    median = statistics.median(ratios)
                    yield Row(name, threads, level, median, low, high, module_ms, onnxruntime_ms, **compiled)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=SOURCES, default=list(SOURCES))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--levels", nargs="+", type=int, default=[3])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--folder", type=Path, default=Path.home() / ".cache/deltann/bench")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--compile", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        engine, path, onnx, threads = options.serve
        serve(engine, Path(path), Path(onnx), int(threads))
    elif options.compile:
        onnx, level, module = options.compile
        print(json.dumps(compile_onnx(Path(onnx), int(level), Path(module))))
    elif options.json:
        print(json.dumps([asdict(row) for row in rows(options)]))
    else:
        print(f"{'model':20}threads level  ratio     95 %          ms    ORT ms  compile s   GiB")
        for row in rows(options):
            ratio = f"{row.ratio:9.2f}  {row.ratio_low:.2f} to {row.ratio_high:.2f}"
            times = f"{row.module_ms:9.1f}{row.onnxruntime_ms:9.1f}"
            compiled = f"{row.compile_cpu_s:10.1f}{row.compile_rss_gib:7.1f}"
            print(f"{row.model:20}{row.threads:4}{row.level:7}{ratio}{times}{compiled}", flush=True)


if __name__ == "__main__":
    main()
