"""Real faults of TVM 0.27's importer, each named among sound nodes by itself, with a script that shows it."""

import numpy as np
import onnx
import pytest
from onnx import helper

from deltann.kinds.bisect import Setting

node = helper.make_node
RESIZE = {
    "scales": np.array([1, 1, 2.5, 2.5], np.float32),
    "roi": np.zeros(0, np.float32),
}
FAULTS = {
    "resize": (
        node("Resize", ["h", "roi", "scales"], ["i"], name="suspect", mode="nearest",
             coordinate_transformation_mode="half_pixel"),
        RESIZE,
    ),
    "antialias": (
        node("Resize", ["h", "roi", "less"], ["i"], name="suspect", mode="linear", antialias=1),
        {"less": np.array([1, 1, 0.5, 0.5], np.float32), **RESIZE},
    ),
    "reflect": (
        node("Pad", ["h", "pads"], ["i"], name="suspect", mode="reflect"),
        {"pads": np.array([0, 0, 0, 7, 0, 0, 0, 7], np.int64)},
    ),
    "clip": (node("Clip", ["h", "zero", "six"], ["i"], name="suspect"), {"zero": np.float32(0), "six": np.float32(6)}),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_node_that_tvm_computes_otherwise_is_named(bisector, network, fault):
    suspect, constants = FAULTS[fault]
    nodes = [
        node("Mul", ["x", "two"], ["g"], name="before"),
        node("Abs", ["g"], ["h"], name="close"),
        suspect,
        node("Neg", ["i"], ["j"], name="after"),
        node("ReduceSum", ["j", "axes"], ["y"], name="last", keepdims=0),
    ]
    constants = {"two": np.float32(2), "axes": np.array([1], np.int64), **constants}
    x = np.random.default_rng(1).normal(size=(3, 1, 3, 3)).astype(np.float32)
    if fault == "clip":
        x[1, 0, 1, 1] = np.nan
    path = network(nodes, constants, (1, 1, 3, 3), None)
    found = bisector(path, x, b=Setting(level=1))
    print(found)
    assert 0
