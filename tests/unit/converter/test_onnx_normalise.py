"""Normalising changes how a model is written, never what it answers."""

import numpy as np
import onnx
import pytest
from deltann_engines.onnx_normalise import FOR_KERAS, FOR_TORCH, normalise
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


def _model(nodes, constants, out_shape, name="x:0"):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 3, 4, 4])],
        [helper.make_tensor_value_info("Identity:0", TensorProto.FLOAT, out_shape)],
        [numpy_helper.from_array(np.array(value), key) for key, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _as_tf2onnx_writes():
    """Pool, squeeze, and a softmax without an axis, with colons in the names."""
    return _model(
        [
            helper.make_node("GlobalAveragePool", ["x:0"], ["a/pool:0"], name="/pool"),
            helper.make_node("Squeeze", ["a/pool:0", "axes:0"], ["a/flat:0"], name="/squeeze"),
            helper.make_node("Softmax", ["a/flat:0"], ["Identity:0"], name="soft"),
        ],
        {"axes:0": np.array([2, 3], np.int64)},
        ["N", 3],
    )


def _with_computed_shape():
    """A flatten that computes its shape from its input's: Shape, Slice, Concat, Reshape."""
    return _model(
        [
            helper.make_node("Relu", ["x:0"], ["r"]),
            helper.make_node("Shape", ["r"], ["shape"]),
            helper.make_node("Slice", ["shape", "zero", "one"], ["batch"]),
            helper.make_node("Concat", ["batch", "rest"], ["target"], axis=0),
            helper.make_node("Reshape", ["r", "target"], ["Identity:0"]),
        ],
        {"zero": np.array([0]), "one": np.array([1]), "rest": np.array([-1])},
        ["N", "K"],
    )


def _answer(model, x):
    return ReferenceEvaluator(model).run(None, {model.graph.input[0].name: x})[0]


@pytest.mark.parametrize("make", [_as_tf2onnx_writes, _with_computed_shape])
@pytest.mark.parametrize("rules", [FOR_KERAS, FOR_TORCH])
def test_normalise_changes_no_answer_and_leaves_a_valid_model(make, rules):
    x = np.random.default_rng(0).standard_normal((1, 3, 4, 4)).astype(np.float32)
    model = make()
    expected = _answer(model, x)
    assert normalise(model, rules)
    onnx.checker.check_model(model, full_check=True)
    np.testing.assert_array_equal(_answer(model, x), expected)


def test_normalise_spells_a_tf2onnx_model_as_onnx2keras_reads_it():
    model = _as_tf2onnx_writes()
    changes = normalise(model, FOR_KERAS)
    assert [node.op_type for node in model.graph.node] == ["GlobalAveragePool", "Flatten", "Softmax"]
    assert [item.i for item in model.graph.node[2].attribute if item.name == "axis"] == [-1]
    assert (model.graph.input[0].name, model.graph.output[0].name) == ("input", "output")
    assert not any(":" in name or "/" in name for node in model.graph.node for name in (*node.input, *node.output))
    assert [change.partition(":")[0] for change in changes] == [
        "squeeze_after_pool_to_flatten",
        "softmax_axis",
        "plain_interface",
        "plain_interface",
        "plain_values",
    ]


def test_squeezes_of_one_side_each_become_one_flatten_and_a_single_one_stays():
    def chain(*squeezes, out_shape):
        return _model(
            [helper.make_node("GlobalAveragePool", ["x:0"], ["p"]), *squeezes], {"3": [3], "2": [2]}, out_shape
        )

    both = chain(
        helper.make_node("Squeeze", ["p", "3"], ["s"]),
        helper.make_node("Squeeze", ["s", "2"], ["Identity:0"]),
        out_shape=["N", 3],
    )
    one = chain(helper.make_node("Squeeze", ["p", "3"], ["Identity:0"]), out_shape=["N", 3, 1])
    x = np.random.default_rng(1).standard_normal((2, 3, 4, 4)).astype(np.float32)
    for model, expected in ((both, ["GlobalAveragePool", "Flatten"]), (one, ["GlobalAveragePool", "Squeeze"])):
        answer = _answer(model, x)
        normalise(model, FOR_KERAS)
        assert [node.op_type for node in model.graph.node] == expected
        np.testing.assert_array_equal(_answer(model, x), answer)


def test_normalise_folds_computed_shapes_for_torch():
    model = _with_computed_shape()
    changes = normalise(model, FOR_TORCH)
    assert [node.op_type for node in model.graph.node] == ["Relu", "Reshape"]
    assert changes[0] == "static_shapes: batch 1, 3 computed shapes folded"


def test_normalise_twice_changes_nothing_more():
    model = _as_tf2onnx_writes()
    normalise(model, FOR_KERAS)
    once = model.SerializeToString()
    assert normalise(model, FOR_KERAS) == []
    assert model.SerializeToString() == once
