"""Faults of hyperparameters, of the graph and of layout, several in one place, and sources of another framework."""

import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from deltann_converter.repair.localising import localise
from deltann_converter.repair.patch import apply_edits
from deltann_engines.describe import describe
from deltann_engines.graphs import open_graph
from deltann_engines.parity import seeded_inputs
from onnx import numpy_helper

from deltann.faults.edits import InsertNode, RemoveNode, SetAttribute

SHARED = Path(os.environ.get("DELTANN_SHARED", Path(__file__).resolve().parents[4] / "shared"))
MODELS = SHARED / "data/models/mobilenet_v2"


def test_several_faults_in_one_place_are_told_apart(faulty):
    """Weights and a missing function beside each other: what is between them is like nothing of the source."""
    case = faulty("plain")
    conv = case.of_kind("Conv", 1)
    case.change(conv.input[1], lambda w: np.roll(w, 1, axis=0))
    case.target = apply_edits(case.target, [RemoveNode(node=case.of_kind("Relu", 1).output[0])])
    found = {one.kind: one for one in case.suspects()}
    assert set(found) == {"weights: permuted", "node missing: Relu"}
    assert found["weights: permuted"].node == conv.name


def test_an_attribute_that_changes_the_sides_is_found_though_nothing_after_it_can_be_run(faulty):
    case = faulty("residual")
    node = case.of_kind("Conv", 2)
    case.target = apply_edits(case.target, [SetAttribute(node=node.output[0], name="strides", value=[2, 2])])
    (suspect,) = case.suspects()
    assert (suspect.node, suspect.stage, suspect.kind) == (node.name, "hyperparameters", "attribute strides")
    assert suspect.own_error is None
    assert suspect.edits == (SetAttribute(node=node.output[0], name="strides", value=[1, 1]),)


def test_a_transpose_that_one_by_one_convolutions_hide_is_found_where_it_is(faulty):
    case = faulty("branches")
    conv = case.of_kind("Conv", 1)
    swap = InsertNode(
        value=conv.input[0],
        output="swap",
        op_type="Transpose",
        attributes={"perm": [0, 1, 3, 2]},
        reader=conv.output[0],
    )
    case.target = apply_edits(case.target, [swap])
    suspect = case.suspects()[0]
    assert (suspect.node, suspect.kind) == ("swap", "node too many")


def test_a_result_that_ends_a_function_early_is_not_sound(faulty):
    case = faulty("residual")
    case.target = apply_edits(case.target, [RemoveNode(node=case.of_kind("Softmax").output[0])])
    (suspect,) = case.suspects()
    assert suspect.kind == "node missing: Softmax"


@pytest.mark.skipif(not MODELS.is_dir(), reason=f"the shared MobileNetV2 is not at {MODELS} (DELTANN_SHARED)")
@pytest.mark.parametrize(("file", "fmt"), [("mobilenet_v2.pt2", "pt2"), ("mobilenet_v2.tflite", "tflite")])
def test_a_real_conversion_is_sound_and_its_broken_bias_is_named(file, fmt, tmp_path):
    info, other = describe(MODELS / file, fmt), describe(MODELS / "mobilenet_v2.onnx", "onnx")
    source, model = open_graph(MODELS / file, info), onnx.load(MODELS / "mobilenet_v2.onnx")
    x, y = seeded_inputs(info, 1, 0), seeded_inputs(other, 1, 0)
    assert localise(source, x, model, y, tmp_path / "sound") == []
    gemm = next(node for node in model.graph.node if node.op_type == "Gemm")
    bias = next(one for one in model.graph.initializer if one.name == gemm.input[2])
    bias.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(bias) * 0, bias.name))
    (suspect,) = localise(source, x, model, y, tmp_path / "broken")
    assert (suspect.node, suspect.kind) == (gemm.name, "bias: zeroed")


def test_a_constant_that_cannot_be_computed_ends_nothing(faulty):
    case = faulty("mobile")
    pad = case.of_kind("Pad")
    case.target.graph.node.insert(0, onnx.helper.make_node("Tanh", [pad.input[1]], ["sides"]))  # of whole numbers
    case.of_kind("Pad").input[1] = "sides"
    first, *_ = case.suspects()
    assert first.op_type == "Pad"
    assert "It cannot be run" in first.evidence[0]
