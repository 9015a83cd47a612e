"""Every edit does what it says, and leaves a model that ONNX's checker takes."""

import numpy as np
import onnx
import pytest
from deltann_converter.repair.patch import PatchError, apply_edits
from deltann_engines.graphs.onnx import load_session
from onnx import TensorProto, helper, numpy_helper

from deltann.faults.edits import InsertNode, RemoveNode, ReplaceOp, Rewire, SetAttribute, SetInitializer, Tensor

X = np.array([[-1, 2, -3]], np.float32)


@pytest.fixture
def model():
    """y = LeakyRelu(x + c) where c is read by two nodes; 0.5 of what is negative passes."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [
            helper.make_node("Add", ["x", "c"], ["a"]),
            helper.make_node("LeakyRelu", ["a"], ["b"], alpha=0.5),
            helper.make_node("Add", ["b", "c"], ["y"]),
        ],
        "net",
        [value("x", TensorProto.FLOAT, (1, 3))],
        [value("y", TensorProto.FLOAT, (1, 3))],
        [numpy_helper.from_array(np.array([1], np.float32), "c")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def number(value):
    return Tensor.of(np.array([value], np.float32))


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (None, [1, 4, 0]),
        (SetInitializer(node="y", slot=1, values=number(2)), [2, 5, 1]),
        (SetAttribute(node="b", name="alpha", value=1.0), [1, 4, -1]),
        (SetAttribute(node="b", name="alpha", value=None), [1, 4, 0.98]),
        (ReplaceOp(node="b", op_type="Relu"), [1, 4, 1]),
        (ReplaceOp(node="b", op_type="Mul", constants=(number(3),)), [1, 10, -5]),
        (InsertNode(value="b", output="n", op_type="Neg"), [1, -2, 2]),
        (InsertNode(value="x", output="n", op_type="Sub", constants=(number(5),), first=True), [8, 5, 10]),
        (InsertNode(value="y", output="n", op_type="Neg"), [-1, -4, 0]),
        (RemoveNode(node="a"), [0.5, 3, -0.5]),
        (RemoveNode(node="y"), [0, 3, -1]),
        (Rewire(node="y", slot=0, value="x"), [0, 3, -2]),
    ],
    ids=lambda value: getattr(value, "op", None),
)
def test_an_edit_does_what_it_says(model, edit, expected):
    made = apply_edits(model, [edit] if edit else [])
    onnx.checker.check_model(made, full_check=True)
    found = load_session(made).run(["y"], {"x": X})[0]
    np.testing.assert_allclose(found[0], expected, rtol=1e-6)


def test_edits_build_on_each_other_and_leave_the_model_as_it_was(model):
    before = model.SerializeToString()
    made = apply_edits(model, [InsertNode(value="x", output="n", op_type="Neg"), ReplaceOp(node="n", op_type="Abs")])
    np.testing.assert_array_equal(load_session(made).run(["y"], {"x": X})[0], [[3, 4, 5]])
    assert model.SerializeToString() == before


def test_what_nothing_reads_any_more_is_dropped(model):
    made = apply_edits(model, [SetInitializer(node=node, slot=1, values=number(2)) for node in ("a", "y")])
    assert "c" not in {one.name for one in made.graph.initializer}


def test_an_edit_of_what_is_not_there_is_refused(model):
    with pytest.raises(PatchError, match="no node writes z"):
        apply_edits(model, [RemoveNode(node="z")])
