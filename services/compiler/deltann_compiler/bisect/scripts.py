"""Scripts that show a finding by themselves: TVM and NumPy, and onnx where TVM's importer is to be shown.

Names in capitals are filled in. Each ends with 1, or as TVM ends, where the finding shows, and else with 0.
"""

from __future__ import annotations

from typing import Any

_HEAD = '''"""WHAT

python reproduce.py ends with 1 where this shows, and with 0 where it does not.
"""

import sys
from pathlib import Path

import numpy as np
import tvm
'''

_BODY = '''
HERE = Path(__file__).resolve().parent
GIVEN = np.load(HERE / "inputs.npz")
TOLERANCE = TOLERATED


def arrays(stem):
    """The arrays input0, input1, … of inputs.npz, or expected0, …"""
    return [GIVEN[f"{stem}{place}"] for place in range(sum(name.startswith(stem) for name in GIVEN.files))]


def run(module, target):
    """Compile a module and give its outputs."""
    target = tvm.target.Target(target)
    with tvm.transform.PassContext(config={"tirx.disable_assert": True}):
        built = tvm.compile(module, target)
    device = tvm.cpu() if target.kind.name in ("llvm", "c") else tvm.device(target.kind.name)
    machine = tvm.relax.VirtualMachine(built, device)
    result = machine["main"](*(tvm.runtime.tensor(one, device) for one in arrays("input")))
    return [one.numpy() for one in ([result] if hasattr(result, "numpy") else result)]


def error(a, b):
    """The largest difference relative to the root mean square of a; infinite where only one of the two is NaN."""
    if a.shape != b.shape:
        return float("inf")
    a, b = a.astype("float64"), b.astype("float64")
    other = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    if not other.any():
        return 0.0
    finite = a[np.isfinite(a)]
    scale = float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0
    apart = np.abs(a[other] - b[other])
    return float(apart.max()) / (scale or 1.0) if np.isfinite(apart).all() else float("inf")


def compare(a, b):
    """Say how far two answers are apart, and end."""
    far = max(map(error, a, b))
    for one, two in zip(a, b):
        print(f"NAME_A: {one.ravel()[:6]}\\nNAME_B: {two.ravel()[:6]}")
    said = "it differs" if far > TOLERANCE else "no difference"
    print(f"relative error {far:.3g}, tolerance {TOLERANCE:.3g}: {said}")
    sys.exit(far > TOLERANCE)

'''

_IMPORT = """
module = from_onnx(onnx.load(HERE / "model.onnx"), keep_params_in_input=False)
with tvm.target.Target(TARGET_B):
    module = tvm.relax.transform.LegalizeOps()(module)
compare(arrays("expected"), run(module, TARGET_B))
"""

_LOWERED = """
sides = [(HERE / name, target) for name, target in (("a.json", TARGET_A), ("b.json", TARGET_B))]
compare(*(run(tvm.ir.load_json(path.read_text()), target) for path, target in sides))
"""

_FAILING = """
module = tvm.ir.load_json((Path(__file__).resolve().parent / "before.json").read_text())
with tvm.target.Target(TARGET_B):
    getattr(import_module(MODULE), PASS)(*ARGS)(module)
print("no failure")
"""


def importing(what: str, tolerance: float, target: Any) -> str:
    """TVM's importer, and operators made kernels, against ONNX Runtime's answers."""
    head = _HEAD + "import onnx\nfrom tvm.relax.frontend.onnx import from_onnx\n"
    names = {"NAME_A": "ONNX Runtime", "NAME_B": "TVM"}
    return _filled(head + _BODY + _IMPORT, what, TOLERATED=repr(tolerance), TARGET_B=repr(target), **names)


def lowered(what: str, tolerance: float, targets: tuple[Any, Any], names: tuple[str, str]) -> str:
    """Two modules as they go to TVM's code generator, one of which the passes have been at."""
    values = {"TARGET_A": repr(targets[0]), "TARGET_B": repr(targets[1]), "NAME_A": names[0], "NAME_B": names[1]}
    return _filled(_HEAD + _BODY + _LOWERED, what, TOLERATED=repr(tolerance), **values)


def failing(what: str, target: Any, module: str, name: str, args: tuple[Any, ...]) -> str:
    """One pass on the module that it fails on."""
    head = _HEAD.replace("import sys\n", "from importlib import import_module\n").replace("import numpy as np\n", "")
    return _filled(head + _FAILING, what, TARGET_B=repr(target), MODULE=repr(module), PASS=repr(name), ARGS=repr(args))


def _filled(text: str, what: str, **values: str) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text.replace("WHAT", what.replace("\\", "\\\\").replace('"', "'"), 1)
