"""Faults put into the real MobileNetV2, by hand: each is found at its node, and nothing else is blamed."""

import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from deltann_engines.describe import describe
from deltann_engines.divergence import find_faults
from deltann_engines.graphs.onnx import OnnxGraph
from deltann_engines.parity import seeded_inputs
from deltann_engines.recording import Recording
from onnx import numpy_helper

SHARED = Path(os.environ.get("DELTANN_SHARED", Path(__file__).resolve().parents[4] / "shared"))
MODEL = SHARED / "data/models/mobilenet_v2/mobilenet_v2.onnx"

pytestmark = pytest.mark.skipif(not MODEL.is_file(), reason=f"the shared model is not at {MODEL} (DELTANN_SHARED)")


@pytest.fixture(scope="module")
def x():
    return seeded_inputs(describe(MODEL, "onnx"), 1, 0)


@pytest.fixture(scope="module")
def source(x, tmp_path_factory):
    return Recording(OnnxGraph(onnx.load(MODEL)), x, tmp_path_factory.mktemp("source"))


def change(model, name, edit):
    """Edit a tensor of the model, an initialiser or a constant, in place."""
    held = {tensor.name: tensor for tensor in model.graph.initializer}
    held |= {node.output[0]: node.attribute[0].t for node in model.graph.node if node.op_type == "Constant"}
    tensor = held[name]
    changed = np.ascontiguousarray(edit(numpy_helper.to_array(tensor).copy()).astype(np.float32))
    tensor.CopyFrom(numpy_helper.from_array(changed, tensor.name))


def of_kind(model, kind):
    return [node for node in model.graph.node if node.op_type == kind]


def found(source, model, x):
    faults, _ = find_faults(source, OnnxGraph(model), x)
    return {fault.node: fault for fault in faults}


def test_the_model_itself_is_sound(source, x):
    assert found(source, onnx.load(MODEL), x) == {}


@pytest.mark.parametrize(
    ("edit", "least"),
    [
        (lambda w: w.astype(np.float16), 1e-3),
        (lambda w: np.roll(w, 1, axis=0), 1.0),
        (lambda w: w * 0, 1.0),
    ],
    ids=["half precision", "channels moved", "nothing"],
)
@pytest.mark.parametrize("position", [1, 20, 50])
def test_wrong_weights_are_found_where_they_are(source, x, position, edit, least):
    model = onnx.load(MODEL)
    node = of_kind(model, "Conv")[position]
    change(model, node.input[1], edit)
    faults = found(source, model, x)
    assert list(faults) == [node.name]
    assert faults[node.name].error > least
    assert faults[node.name].source == node.output[0]


def test_several_faults_are_told_apart(source, x):
    model = onnx.load(MODEL)
    convs = of_kind(model, "Conv")
    change(model, convs[20].input[2], lambda bias: bias * 1.05)
    change(model, convs[30].input[1], lambda w: -w)
    change(model, convs[40].input[1], lambda w: w.astype(np.float16))
    faults = found(source, model, x)
    assert list(faults) == [convs[20].name, convs[30].name, convs[40].name]
    assert all(fault.sure for fault in faults.values())


def test_a_wrong_attribute_is_found_at_its_node(source, x):
    model = onnx.load(MODEL)
    padded = [(node, item) for node in of_kind(model, "Conv") for item in node.attribute if item.name == "pads"]
    node, pads = next(one for one in padded[20:] if list(one[1].ints) == [1, 1, 1, 1])
    pads.ints[:] = [2, 2, 0, 0]
    assert list(found(source, model, x)) == [node.name]
