"""The folder that ``bench/gpu_check.py run`` takes to a GPU.

What travels should be small, and weights are not: all but MobileNetV2's real ones are made up, as windows of one short
sequence. Compressed, that is next to nothing, and the networks compute with them as with any others. Modules are of
level 2, where batch norms stay apart from weights: folded into them, every window would be another.
"""

from __future__ import annotations

import json
import lzma
import math
import os
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from deltann.cli.convert import convert_here
from deltann.cli.single import Bench
from deltann.kinds.compile import CompileParams
from deltann.model import ModelInfo
from deltann.targets import TARGETS, read_target

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("DELTANN_SHARED", REPOSITORY.parent / "shared"))
REAL = {"mobilenet_v2": SHARED / "data" / "models" / "mobilenet_v2" / "mobilenet_v2.onnx"}
MODELS = {
    "mobilenet_v2": "torchvision:mobilenet_v2@random(seed=1)",
    "efficientnet_lite0": "efficientnet_lite0",
    "resnet50": "torchvision:resnet50@random(seed=1)",
    "resnet101_v2": "keras:ResNet101V2@random(seed=1)",
    "inception_v3": "torchvision:inception_v3@random(seed=1)",
    "densenet121": "torchvision:densenet121@random(seed=1)",
}
LEVEL, INPUTS = 2, 4
CPU, HOST = "x86-64-v3", TARGETS["x86-64-v2"].tvm
PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in (28, 27, 17)] + ["manylinux2014_x86_64"]

_SEQUENCE = np.random.default_rng(0).standard_normal(4093).astype(np.float32)
_STEPS = (1, 131, 17, 29)
"""How far a step along each axis moves within the sequence; along the first, which schedules put innermost, by one."""
_SMALL = 1 << 16


def prepare(out: Path, archs: list[str], models: list[str] | None, pythons: list[str]) -> None:
    """Write the folder.

    Args:
        out: the folder; it must not exist yet.
        archs: of the GPUs, as "sm_90".
        models: names of some networks; all six where None.
        pythons: versions of the other machine's Python.
    """
    out.mkdir(parents=True)
    _wheels(out / "wheels", pythons)
    shutil.copy(REPOSITORY / "bench" / "gpu_check.py", out)
    names = models or list(MODELS)
    with tempfile.TemporaryDirectory(prefix="gpu-check-") as home:
        for name in names:
            _model(name, Bench.at(Path(home)), out, archs)
    (out / "check.json").write_text(json.dumps({"archs": archs, "models": names}))
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{out}: {size / 1e6:.1f} MB for {', '.join(archs)}")


def _wheels(folder: Path, pythons: list[str]) -> None:
    make = [sys.executable, REPOSITORY / "runtimes" / "slim" / "build.py", "--out", folder]
    subprocess.run(make, check=True)
    wanted = [
        f"{name}=={metadata.version(name)}" for name in ("apache-tvm-ffi", "nvidia-cuda-runtime", "typing_extensions")
    ]
    for python in pythons:
        fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", folder]
        fetch += ["--python-version", python, *(f"--platform={one}" for one in PLATFORMS), *wanted]
        subprocess.run(fetch, check=True)


def _model(name: str, bench: Bench, out: Path, archs: list[str]) -> None:
    import tvm
    from deltann_compiler import frontends
    from deltann_compiler.build import export, lower
    from deltann_compiler.targets import needs_of, resolve
    from deltann_engines import parity
    from deltann_engines.base import load

    real = REAL.get(name)
    path, info = _read(bench, name, str(real) if real is not None and real.exists() else MODELS[name])
    module, _ = frontends.load(path, info)
    if real is None or not real.exists():
        module = made_up(module)
    shape = tuple(1 if side is None else side for side in info.input.shape)
    info = info.model_copy(update={"input": info.input.model_copy(update={"shape": shape})})
    ir = tvm.ir.save_json(module)
    inputs = parity.seeded_inputs(info, INPUTS, 0)
    np.save(out / f"{name}.in.npy", inputs)
    for arch in ("cpu", *archs):
        text = CPU if arch == "cpu" else read_target({"kind": "cuda", "arch": arch, "host": HOST})
        target = resolve(text)
        scheduled, _ = lower(tvm.ir.load_json(ir), CompileParams(target=text, level=LEVEL), target)
        library = out / f"{name}.{arch}.so"
        code = export(scheduled.module, target, library, needs_of(text, target))
        if arch == "cpu":
            with load("tvm", library, info) as session:
                np.save(out / f"{name}.out.npy", np.concatenate([session.run(x[None]) for x in inputs]))
        size = library.stat().st_size
        packed = library.with_suffix(".so.xz")
        packed.write_bytes(lzma.compress(library.read_bytes(), preset=6))
        library.unlink()
        told = (
            "" if code is None else f", {len(code.kernels)} kernels by {code.compiler}: {code.size_bytes / 1e6:.2f} MB"
        )
        print(f"{name} {arch}: {size / 1e6:.1f} MB, {packed.stat().st_size / 1e6:.1f} MB packed{told}", flush=True)


def _read(bench: Bench, name: str, source: str) -> tuple[Path, ModelInfo]:
    """The file of a network, in a format that TVM reads, and its description."""
    ready = bench.model(source)
    if ready.info.framework == "keras":
        made = convert_here(bench, ready, "onnx", tool=None, normalise=True, direct=False)
        path = bench.home / f"{name}.onnx"
        shutil.copyfile(bench.store.materialise(made.model, bench.cache), path)
        ready = bench.model(str(path))
    return bench.store.materialise(ready.ref, bench.cache), ready.info


def made_up(module: Any) -> Any:
    """The module with every large weight replaced by windows of one sequence, as large as the weight was."""
    from tvm import relax
    from tvm.relax import PyExprMutator, expr_functor

    @expr_functor.mutator
    class Replacer(PyExprMutator):
        def visit_generic_const_(self, constant: Any) -> Any:
            held = constant.value.numpy() if hasattr(constant.value, "numpy") else None
            large = held is not None and held.dtype == np.float32 and held.nbytes >= _SMALL
            return relax.const(windows(held)) if large else constant

    replacer = Replacer(module)
    for name, function in list(module.functions_items()):
        if isinstance(function, relax.Function):
            replacer.builder_.update_func(name, replacer.visit_expr(function))
    return replacer.builder_.get()


def windows(weight: np.ndarray) -> np.ndarray:
    """Float32 values of the same shape and spread, next to nothing when compressed in the layouts of the schedules."""
    steps = _STEPS[: weight.ndim] if weight.ndim > 1 else (1,)
    index = sum(
        np.arange(side).reshape([-1] + [1] * (weight.ndim - axis - 1)) * step
        for axis, (side, step) in enumerate(zip(weight.shape, steps, strict=True))
    )
    spread = float(weight.std()) or 1 / math.sqrt(weight.size)
    return np.ascontiguousarray(_SEQUENCE[index % len(_SEQUENCE)] * np.float32(spread))
