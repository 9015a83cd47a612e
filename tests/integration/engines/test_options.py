"""What is asked of an engine is what it does, and what it says of that is what it did: each in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SHARED = Path(os.environ.get("DELTANN_SHARED", Path(__file__).resolve().parents[4] / "shared"))
MODELS = SHARED / "data" / "models" / "mobilenet_v2"

pytestmark = pytest.mark.skipif(not MODELS.is_dir(), reason=f"the shared models are not at {MODELS} (DELTANN_SHARED)")

RUN = """
import json, sys
from pathlib import Path
from deltann.engines import EngineOptions
from deltann.model import ModelInfo
from deltann_engines.base import load
from deltann_engines.parity import seeded_inputs
engine, path, info, wishes = sys.argv[1], Path(sys.argv[2]), ModelInfo.model_validate_json(sys.argv[3]), sys.argv[4:]
for wish in map(EngineOptions.model_validate_json, wishes):
    with load(engine, path, info, options=wish) as session:
        (row,) = session.run(seeded_inputs(info, 1, seed=0))
        print("ANSWER", json.dumps([session.used.model_dump(exclude_none=True), row.reshape(-1).tolist()]))
"""
FILES = {
    "torch": ("pt2", "mobilenet_v2.pt2"),
    "tensorflow": ("savedmodel", "saved_model"),
    "tflite": ("tflite", "mobilenet_v2.tflite"),
    "onnxruntime": ("onnx", "mobilenet_v2.onnx"),
    "openvino": ("onnx", "mobilenet_v2.onnx"),
}


def answers(engine, *wishes, fails=None):
    """For each set of options, run one after the other in one process: what the engine says it used, and logits."""
    fmt, name = FILES[engine]
    layout = "NCHW" if fmt in ("pt2", "onnx") else "NHWC"
    shape = [1, 3, 224, 224] if layout == "NCHW" else [1, 224, 224, 3]
    info = {
        "format": fmt,
        "input": {"name": "x", "shape": shape, "dtype": "float32", "layout": layout},
        "output": {"name": "y", "shape": [1, 1001], "dtype": "float32"},
        "output_kind": "logits",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, engine, MODELS / name, json.dumps(info), *map(json.dumps, wishes)],
        capture_output=True, text=True, timeout=500, env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    if fails is not None:
        assert fails in done.stderr
        return []
    assert done.returncode == 0, done.stderr[-3000:]
    told = [json.loads(line[7:]) for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
    return [(used, np.array(row, np.float32)) for used, row in told]


def close(a, b, most=1e-4):
    assert np.abs(a - b).max() <= most * np.abs(a).max()


def test_tflite_has_three_libraries_and_takes_xnnpack_by_itself():
    wishes = [{}, {"library": "xnnpack"}, {"library": "builtin"}, {"library": "reference"}]
    found = answers("tflite", *wishes)
    assert [used["library"] for used, _ in found] == ["xnnpack", "xnnpack", "builtin", "reference"]
    rows = [row for _, row in found]
    np.testing.assert_array_equal(rows[0], rows[1])
    for row in rows[2:]:
        close(rows[0], row)
    assert len({row.tobytes() for row in rows}) == 3  # three ways of adding up the same products


def test_torch_runs_with_and_without_onednn():
    (asked, one), (without, two) = (answers("torch", {"library": name})[0] for name in ("onednn", "native"))
    assert (asked["library"], without["library"]) == ("onednn", "native")
    assert one.tobytes() != two.tobytes()
    close(one, two)


def test_tensorflow_runs_with_and_without_onednn_and_cannot_change_within_a_process():
    (asked, one), (without, two) = (answers("tensorflow", {"library": name})[0] for name in ("onednn", "eigen"))
    assert (asked["library"], without["library"]) == ("onednn", "eigen")
    assert one.tobytes() != two.tobytes()
    close(one, two)
    answers("tensorflow", {"library": "eigen"}, {"library": "onednn"}, fails="which cannot be changed any more")


def test_onnx_runtime_has_its_levels_and_says_what_provider_it_lacks():
    levels = ["disabled", "basic", "extended", "all"]
    found = answers("onnxruntime", {}, *({"level": level} for level in levels))
    assert [used for used, _ in found] == [{"level": level, "library": "cpu"} for level in ["all", *levels]]
    np.testing.assert_array_equal(found[0][1], found[4][1])
    for _, row in found[1:]:
        close(found[0][1], row)
    assert found[1][1].tobytes() != found[0][1].tobytes()
    answers("onnxruntime", {"library": "acl"}, fails="this ONNX Runtime has no ACLExecutionProvider, only ")


def test_openvino_says_in_what_precision_it_computed_whatever_was_asked():
    import openvino

    bf16 = "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    found = answers("openvino", {"precision": "fp32"}, {}, {"precision": "bf16"})
    assert [used["precision"] for used, _ in found] == ["fp32", *["bf16" if bf16 else "fp32"] * 2]
    (_, exact), *others = found
    close(answers("onnxruntime", {})[0][1], exact, 2e-5)
    for _, row in others:
        np.testing.assert_array_equal(row, others[0][1])
    apart = np.abs(exact - others[0][1]).max() / np.abs(exact).max()
    assert 0.01 < apart < 0.2 if bf16 else apart == 0  # eight bits of mantissa, through 52 convolutions
