"""Real faults of TVM 0.27's importer, each named among sound nodes, with a script that shows it."""

import numpy as np
import pytest
from onnx import helper

from deltann.errors import JobFailure
from deltann.kinds.bisect import Setting
from deltann.outcome import Outcome

node = helper.make_node
LEVEL_0 = Setting(level=0, schedule="naive")
EMPTY = np.zeros(0, np.float32)
MORE, LESS = (np.array([1, 1, by, by], np.float32) for by in (2.5, 0.5))
HALF_PIXEL = {"mode": "nearest", "coordinate_transformation_mode": "half_pixel"}
FAULTS = {
    "nearest": ("Resize", HALF_PIXEL, [EMPTY, MORE]),
    "cubic": ("Resize", {"mode": "cubic"}, [EMPTY, MORE]),
    "antialias": ("Resize", {"mode": "linear", "antialias": 1}, [EMPTY, LESS]),
    "NaN": ("Clip", {}, [np.float32(0), np.float32(6)]),
}
WIDE = ("Pad", {"mode": "reflect"}, [np.array([0, 0, 0, 7, 0, 0, 0, 7], np.int64)])


@pytest.fixture
def among(network):
    """A network with an operator in its middle."""

    def write(op_type, attributes, constants):
        held = {f"c{place}": value for place, value in enumerate(constants)}
        nodes = [
            node("Mul", ["x", "two"], ["g"], name="before"),
            node("Relu", ["g"], ["h"], name="beside") if op_type == "Det" else node("Neg", ["g"], ["h"], name="beside"),
            node(op_type, ["h", *held], ["i"], name="suspect", **attributes),
            node("Sqrt" if op_type == "Det" else "Neg", ["i"], ["j"], name="after"),
            node("Add", ["j", "two"], ["y"], name="last"),
        ]
        return network(nodes, {"two": np.float32(2), **held}, (1, 1, 3, 3), None)

    return write


@pytest.fixture
def x():
    return np.random.default_rng(1).normal(size=(3, 1, 3, 3)).astype(np.float32)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_node_that_tvm_computes_otherwise_is_named(bisector, among, x, fault):
    if fault == "NaN":
        x[1, 0, 1, 1] = np.nan
    found = bisector(among(*FAULTS[fault]), x, b=LEVEL_0)
    (one,) = found.findings
    assert (one.comparison.a, one.comparison.b) == ("ONNX Runtime", "TVM without passes")
    assert one.comparison.symptom == "differs"
    assert one.comparison.differing == ((1,) if fault == "NaN" else (0, 1, 2))
    assert (one.passes, [each.name for each in one.nodes]) == ((), ["suspect"])
    assert (one.alone is None) is (fault == "NaN"), "where only one side is NaN the difference has no size"
    assert (one.minimal, one.reproduced) == (True, True)
    assert [each.symptom for each in found.comparisons[1:]] == [None, None], "no pass makes it worse"
    done = bisector.reproduce(one)
    assert (done.returncode, "it differs" in done.stdout) == (1, True), done.stderr
    readme = (bisector.reproducers / "importer" / "README.txt").read_text()
    assert "apache-tvm 0.27" in readme
    assert "'suspect'" in readme


def test_an_operator_that_tvm_lacks_is_named(bisector, among, x):
    (one,) = bisector(among("Det", {}, []), np.abs(x), b=LEVEL_0).findings
    assert (one.comparison.b, one.comparison.symptom) == ("TVM without passes", "compile_failed")
    assert "Det" in one.comparison.message
    assert [each.name for each in one.nodes] == ["suspect"]
    assert one.reproduced


def test_where_onnx_runtime_has_no_answer_there_is_no_right_one(bisector, among, x):
    """ONNX Runtime refuses to reflect more than there is; TVM does not."""
    with pytest.raises(JobFailure, match=r"ONNX Runtime cannot run it on these inputs.*pre-pad") as caught:
        bisector(among(*WIDE), x)
    assert caught.value.outcome == Outcome.RUN_FAILED
