"""Shows two answers to the same inputs that differ, as reproduce.json beside it tells.

usage: python reproduce.py

Needs tvm and numpy, and onnx where one of the two is model.onnx as TVM imports it. Ends with 1 where the answers differ
by more than the tolerance, with 0 where they do not, and as TVM ends where that fails.
"""

import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Compare, and end."""
    about = json.loads((HERE / "reproduce.json").read_text())
    print(about["what"])
    a, b = (answers(side) for side in about["sides"])
    far = max(map(error, a, b))
    for side, arrays in zip(about["sides"], (a, b), strict=True):
        for array in arrays:
            print(f"{side['name']}: {array.ravel()[:6]} …")
    said = "it differs" if far > about["tolerance"] else "no difference"
    print(f"relative error {far:.3g}, tolerance {about['tolerance']:.3g}: {said}")
    sys.exit(far > about["tolerance"])


def answers(side: dict) -> list:
    """What one side answers: known already, or a module's, compiled for a target."""
    if "module" not in side:
        return given("expected")
    import tvm

    target = tvm.target.Target(side["target"])
    with tvm.transform.PassContext(config={"tirx.disable_assert": True}):
        built = tvm.compile(module(side["module"], target), target)
    device = tvm.cpu() if target.kind.name in ("llvm", "c") else tvm.device(target.kind.name)
    machine = tvm.relax.VirtualMachine(built, device)
    result = machine["main"](*(tvm.runtime.tensor(one, device) for one in given("input")))
    return [one.numpy() for one in ([result] if hasattr(result, "numpy") else result)]


def module(name: str, target: object) -> object:
    """What goes to TVM's code generator: saved as JSON, or imported, each operator made a kernel."""
    import tvm

    if name.endswith(".json"):
        return tvm.ir.load_json((HERE / name).read_text())
    import onnx
    from tvm.relax.frontend.onnx import from_onnx

    imported = from_onnx(onnx.load(HERE / name), keep_params_in_input=False)
    with target:
        return tvm.relax.transform.LegalizeOps()(imported)


def given(stem: str) -> list:
    """The arrays input0, input1, … of inputs.npz, or expected0, …"""
    with np.load(HERE / "inputs.npz", allow_pickle=False) as arrays:
        return [arrays[f"{stem}{place}"] for place in range(sum(name.startswith(stem) for name in arrays.files))]


def error(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference relative to the root mean square of a; infinite where one of the two alone is NaN."""
    if a.shape != b.shape:
        return float("inf")
    a, b = a.astype(np.float64), b.astype(np.float64)
    other = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    if not other.any():
        return 0.0
    finite = a[np.isfinite(a)]
    scale = float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0
    apart = np.abs(a[other] - b[other])
    return float(apart.max()) / (scale or 1.0) if np.isfinite(apart).all() else float("inf")


if __name__ == "__main__":
    main()
