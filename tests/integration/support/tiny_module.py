"""A compiled module whose answers NumPy knows: ``relu(x @ WEIGHTS)``. TVM stays out of the tests' own process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from deltann.model import ModelInfo, TensorSpec

_BUILD = """
import sys
import numpy as np
import tvm
from tvm import relax

weights = np.load(sys.argv[1] + "/w.npy")
builder = relax.BlockBuilder()
x = relax.Var("x", relax.TensorType((1, 4), "float32"))
with builder.function("main", [x]):
    with builder.dataflow():
        product = builder.emit(relax.op.matmul(x, relax.const(weights)))
        result = builder.emit_output(relax.op.nn.relu(product))
    builder.emit_func_output(result)
graph = relax.transform.LegalizeOps()(builder.get())
relax.build(graph, target=tvm.target.Target({"kind": "llvm"})).export_library(sys.argv[1] + "/host.so")
"""
_RANDOM = np.random.default_rng(3)
WEIGHTS = _RANDOM.normal(size=(4, 3)).astype(np.float32)
X = _RANDOM.normal(size=(6, 4)).astype(np.float32)
INFO = ModelInfo(
    format="onnx",
    input=TensorSpec(name="x", shape=(1, 4), dtype="float32"),
    output=TensorSpec(name="y", shape=(1, 3), dtype="float32"),
    output_kind="logits",
    classes=3,
)


def build(folder: Path, more: str = "") -> Path:
    """Write ``host.so`` for this host, and ``short.so``, its beginning; ``more`` may build on from ``graph``."""
    np.save(folder / "w.npy", WEIGHTS)
    command = [sys.executable, "-c", _BUILD + more, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    (folder / "short.so").write_bytes((folder / "host.so").read_bytes()[:4096])
    return folder
