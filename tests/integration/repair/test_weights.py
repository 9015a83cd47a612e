"""Wrong parameters are named, and the source's take their place."""

import numpy as np
import pytest
from deltann_converter.repair.patch import apply_edits
from deltann_engines.graphs.onnx import load_session
from onnx import numpy_helper

from bench.faults.nets import NETS
from deltann.faults.edits import RemoveNode


@pytest.mark.parametrize("net", NETS)
def test_a_sound_copy_has_no_suspects(faulty, net):
    assert faulty(net).suspects() == []


@pytest.mark.parametrize(
    ("edit", "kind"),
    [
        (lambda w: w * 0, "weights: zeroed"),
        (lambda w: w * 1.05, "weights: scaled"),
        (lambda w: np.roll(w, 1, axis=0), "weights: permuted"),
        (lambda w: w.transpose(0, 1, 3, 2), "weights: wrong layout"),
        (lambda w: w.astype(np.float16), "weights: half precision"),
        (lambda w: w + 0.1, "weights: other values"),
    ],
    ids=["zeroed", "scaled", "permuted", "transposed", "half", "other"],
)
@pytest.mark.parametrize("place", [0, 2, 3])
def test_wrong_weights_are_named_at_their_node_and_put_right(faulty, edit, kind, place):
    case = faulty("plain")
    node = case.of_kind("Conv", place)
    case.change(node.input[1], edit)
    (suspect,) = case.suspects()
    assert (suspect.node, suspect.op_type, suspect.stage) == (node.name, "Conv", "parameters")
    assert suspect.kind == kind
    assert suspect.own_error > 1e-4
    assert suspect.inherited_error < 1e-5
    repaired = apply_edits(case.target, suspect.edits)
    expected, found = (load_session(model).run(None, {"x": case.x})[0] for model in (case.source, repaired))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_weights_and_bias_of_one_node_are_put_right_together(faulty):
    case = faulty("residual")
    node = case.of_kind("Conv", 2)
    case.change(node.input[1], lambda w: w * 1.2)
    case.change(node.input[2], lambda b: b * 0)
    (suspect,) = case.suspects()
    assert suspect.node == node.name
    assert suspect.kind == "weights: scaled and bias: zeroed"
    assert len(suspect.edits) == 2


def test_what_follows_a_fault_is_not_blamed_but_inherits_it(faulty):
    case = faulty("plain")
    first, second = case.of_kind("Conv", 1), case.of_kind("Conv", 3)
    case.change(first.input[1], lambda w: w * 1.05)
    case.change(second.input[1], lambda w: w * 1.05)
    suspects = {one.node: one for one in case.suspects()}
    assert set(suspects) == {first.name, second.name}
    assert suspects[first.name].inherited_error < 1e-5
    assert suspects[second.name].inherited_error > 1e-2


def test_weights_into_which_a_norm_was_folded_are_made_of_the_source_s(faulty):
    """The target has one convolution where the source has a convolution and a batch norm, and its weights are wrong."""
    case = faulty("residual")
    conv, norm = case.of_kind("Conv", 1), case.of_kind("BatchNormalization", 0)
    held = {one.name: numpy_helper.to_array(one) for one in case.target.graph.initializer}
    scale, shift, mean, variance = (held[name] for name in norm.input[1:])
    factor = scale / np.sqrt(variance + 1e-3)
    case.change(conv.input[1], lambda w: w * factor.reshape(-1, 1, 1, 1))
    case.change(conv.input[2], lambda b: (b - mean) * factor + shift)
    case.target = apply_edits(case.target, [RemoveNode(node=norm.output[0])])
    assert case.suspects() == []
    case.change(conv.input[1], lambda w: np.roll(w, 1, axis=0))
    (suspect,) = case.suspects()
    assert (suspect.node, suspect.stage) == (conv.name, "parameters")
    repaired = load_session(apply_edits(case.target, suspect.edits)).run(None, {"x": case.x})[0]
    np.testing.assert_allclose(repaired, load_session(case.source).run(None, {"x": case.x})[0], rtol=1e-4, atol=1e-6)
