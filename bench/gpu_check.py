"""Runs six networks on a GPU and compares what they answer with the CPU: prepared here, run where the GPU is.

    bench/gpu_check.py prepare --out DIR [--arch sm_90 …]   compile all of it, here; no GPU is needed
    bench/gpu_check.py run DIR [--device cpu] [--json FILE] on the other machine, which needs Python and NumPy alone

The folder holds modules, inputs, the CPU's answers, TVM's runtime as wheels, and a copy of this file. A run takes at
most eight minutes. It ends with 0 if every network agrees, with 1 if one does not or fails, and with 3 where there is
no GPU for it.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

BUDGET_S = 480.0
_SHARE = 4
"""One network may take this part of the time at most."""
MAX_REL = 1e-3
"""Of the largest answer: the sums of a GPU go in another order."""
ROUNDS, PER_ROUND = 10, 10
_COLUMNS = ("model", "same_labels", "max_rel", "median_ms", "low_ms", "high_ms", "load_s", "error")


def run(folder: Path, device: str, seconds: float) -> list[dict[str, Any]]:
    """Every network on the device, each in a process of its own: a fault on a GPU ends all that the process does there.

    Raises:
        SystemExit: 3, after a sentence, where the device is not there or the folder has no modules for it.
    """
    most, ends = seconds / _SHARE, time.monotonic() + seconds
    about = json.loads((folder / "check.json").read_text())
    with tempfile.TemporaryDirectory(prefix="gpu-check-") as made:
        site = unpack(folder / "wheels", Path(made, "site"))
        arch = "cpu" if device == "cpu" else _found(site, about["archs"], most)
        rows = []
        for model in about["models"]:
            left = min(most, ends - time.monotonic())
            rows.append({"model": model, "arch": arch, **(_child(site, left, "one", folder, model, arch))})
            print(_line(rows[-1]), flush=True)
    return rows


def _found(site: Path, archs: list[str], seconds: float) -> str:
    """The architecture of this machine's GPU."""
    device = _child(site, seconds, "probe")
    if "error" in device:
        _stop(f"The networks were not run: {device['error']}")
    if device["arch"] not in archs:
        _stop(
            f"The networks were not run: this machine's {device['name']} is an {device['arch']}, and the folder has "
            f"modules for {', '.join(archs)}. Prepare it again with --arch {device['arch']}."
        )
    print(f"{device['name']}, {device['arch']}", flush=True)
    return str(device["arch"])


def _stop(sentence: str) -> None:
    print(sentence, file=sys.stderr)
    raise SystemExit(3)


def _child(site: Path, seconds: float, *args: object) -> dict[str, Any]:
    """What a process of this file prints, or why it printed nothing."""
    if seconds <= 0:
        return {"error": "not run: the time was over"}
    command = [sys.executable, __file__, *map(str, args), "--site", str(site)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {seconds:.0f} s"}
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        return {"error": lines[-1][:400]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def probe() -> dict[str, Any]:
    """The first GPU, or why there is none."""
    import deltann_tvm_cuda

    try:
        deltann_tvm_cuda.load()
    except RuntimeError as error:
        return {"error": str(error)}
    import tvm

    device = tvm.cuda(0)
    if not device.exist:
        return {"error": "This machine has an NVIDIA driver and no GPU that it can use."}
    return {"name": device.device_name, "arch": "sm_" + device.compute_version.replace(".", "")}


def one(folder: Path, model: str, arch: str) -> dict[str, Any]:
    """One network: its answers against those of the CPU, and its times."""
    import tvm
    from tvm.runtime.vm import VirtualMachine

    if arch != "cpu":
        import deltann_tvm_cuda

        deltann_tvm_cuda.load()
    inputs, expected = np.load(folder / f"{model}.in.npy"), np.load(folder / f"{model}.out.npy")
    with tempfile.TemporaryDirectory() as made:
        path = Path(made, "module.so")
        path.write_bytes(lzma.decompress((folder / f"{model}.{arch}.so.xz").read_bytes()))
        began = time.perf_counter()
        device = tvm.cpu(0) if arch == "cpu" else tvm.cuda(0)
        machine = VirtualMachine(tvm.runtime.load_module(str(path)), device)
        given = [tvm.runtime.tensor(x[None], device) for x in inputs]
        answers = np.concatenate([_first(machine["main"](x)).numpy() for x in given])
        loaded = time.perf_counter() - began
        clock = machine.time_evaluator("main", device, number=1 if arch == "cpu" else PER_ROUND, repeat=ROUNDS)
        times = np.array(clock(given[0]).results) * 1e3
    error = float(np.abs(answers - expected).max() / np.abs(expected).max())
    return {
        "same_labels": f"{int((answers.argmax(1) == expected.argmax(1)).sum())}/{len(expected)}",
        "max_rel": error if np.isfinite(error) else None,
        "median_ms": float(np.median(times)),
        "low_ms": float(times.min()),
        "high_ms": float(times.max()),
        "load_s": loaded,
        "ok": bool(error < MAX_REL and (answers.argmax(1) == expected.argmax(1)).all()),
    }


def _first(result: Any) -> Any:
    return result if hasattr(result, "numpy") else result[0]


def unpack(wheels: Path, site: Path) -> Path:
    """Unpack those wheels of a folder that are for this Python."""
    site.mkdir(parents=True)
    for wheel in sorted(wheels.glob("*.whl")):
        if fits(wheel.name, sys.version_info[:2]):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(site)
    return site


def fits(name: str, version: tuple[int, int]) -> bool:
    """Whether a wheel is for a version of CPython, by its name."""
    python, abi, _ = name.removesuffix(".whl").split("-")[-3:]
    minor = re.fullmatch(r"cp3(\d+)", python)
    if minor is None:
        return "py3" in python.split(".")
    return int(minor[1]) == version[1] or (abi == "abi3" and int(minor[1]) < version[1])


def _line(row: dict[str, Any]) -> str:
    cells = [f"{row[key]:.3g}" if isinstance(row.get(key), float) else str(row.get(key, "")) for key in _COLUMNS]
    return "  ".join(
        cell.ljust(18 if key == "model" else 11) for key, cell in zip(_COLUMNS, cells, strict=True)
    ).rstrip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    prepared = parts.add_parser("prepare")
    prepared.add_argument("--out", type=Path, required=True)
    prepared.add_argument("--arch", nargs="+", default=["sm_90"], help="of the GPUs; the CPU's modules come with them")
    prepared.add_argument("--models", nargs="+", help="some of the six")
    prepared.add_argument(
        "--python", nargs="+", default=["3.11", "3.12"], help="versions of the other machine's Python"
    )
    ran = parts.add_parser("run")
    ran.add_argument("folder", type=Path)
    ran.add_argument("--device", choices=["gpu", "cpu"], default="gpu")
    ran.add_argument("--seconds", type=float, default=BUDGET_S, help="that all of it may take")
    ran.add_argument("--json", type=Path, help="write the rows to this file too")
    for name in ("probe", "one"):  # what `run` calls
        child = parts.add_parser(name)
        for argument in ("folder", "model", "arch") if name == "one" else ():
            child.add_argument(argument)
        child.add_argument("--site", required=True)
    given = parser.parse_args()
    if given.part in ("probe", "one"):
        sys.path.insert(0, given.site)
        print(json.dumps(probe() if given.part == "probe" else one(Path(given.folder), given.model, given.arch)))
    elif given.part == "prepare":
        from gpu_prepare import prepare

        prepare(given.out, given.arch, given.models, given.python)
    else:
        print(_line({key: key for key in _COLUMNS}))
        rows = run(given.folder, given.device, given.seconds)
        print(json.dumps(rows))
        if given.json is not None:
            given.json.write_text(json.dumps(rows, indent=2) + "\n")
        raise SystemExit(0 if all(row.get("ok") for row in rows) else 1)


if __name__ == "__main__":
    main()
