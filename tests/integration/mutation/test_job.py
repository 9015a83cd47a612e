"""The job that makes a mutant: what it tells of it, and how it ends where there is none."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from deltann.errors import JobFailure
from deltann.mutation import Mutation, Positions


@pytest.fixture
def path(tmp_path):
    """Two ReLUs in a row behind a product: dropping or repeating one of them changes nothing."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="dense"),
        helper.make_node("Relu", ["h"], ["r"], name="first"),
        helper.make_node("Relu", ["r"], ["y"], name="second"),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 3))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 3))],
        [numpy_helper.from_array(np.eye(3, dtype=np.float32), "w")],
    )
    file = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)
    return file


def test_a_mutant_says_where_it_was_mutated_and_that_it_differs(mutator, path):
    produced = mutator(path, Mutation(operator="replace_func_relu_to_sigmoid", at=Positions(occurrence=1)))
    data = produced.data
    assert (data.fits, data.mutated, data.places) == (2, 1, ["second"])
    assert data.before != data.after
    assert (data.equivalence.label, data.equivalence.probes) == ("differs", 1)
    made = onnx.load(mutator.store.materialise(produced.artifacts["model"], mutator.cache))
    assert [node.op_type for node in made.graph.node] == ["MatMul", "Relu", "Sigmoid"]


@pytest.mark.parametrize(
    "mutation",
    [
        Mutation(operator="duplicate_layer", at=Positions(occurrence=2)),
        Mutation(operator="drop_layer", at=Positions(occurrence=1)),
        # The weights are the identity: it may as well be transposed.
        Mutation(operator="transpose_conv2d_dense_1_before"),
    ],
    ids=lambda mutation: mutation.operator,
)
def test_a_mutant_that_never_changes_an_output_is_called_equivalent(mutator, path, mutation):
    data = mutator(path, mutation, probes=12).data
    assert data.before != data.after
    assert (data.equivalence.label, data.equivalence.probes) == ("equivalent?", 12)


def test_a_change_that_few_inputs_show_is_found_among_many(mutator, tmp_path):
    """ReLU6 against ReLU differs where something is above 6: the first input, in [−1, 1], does not show it."""
    graph = helper.make_graph(
        [helper.make_node("Clip", ["x", "low", "high"], ["y"])],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 3))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 3))],
        [numpy_helper.from_array(np.float32(value), name) for name, value in (("low", 0), ("high", 6))],
    )
    file = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)
    found = mutator(file, Mutation(operator="replace_func_relu6_to_relu")).data.equivalence
    assert found.label == "differs"
    assert found.probes > 1


@pytest.mark.parametrize(
    ("mutation", "stage"),
    [
        (Mutation(operator="drop_bias"), "fits_nowhere"),
        (Mutation(operator="drop_layer", at=Positions(occurrence=9)), "past_the_end"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_where_there_is_no_mutant_the_job_fails_with_the_reason(mutator, path, mutation, stage):
    with pytest.raises(JobFailure) as caught:
        mutator(path, mutation)
    assert (caught.value.outcome, caught.value.stage) == ("mutate_failed", stage)
