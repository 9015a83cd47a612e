"""Any nodes of a model as a model of their own, fed with what ONNX Runtime computes before them."""

import numpy as np
import onnx
import onnxruntime
import pytest
from deltann_compiler.bisect.subgraph import CannotCutError, Parts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper

node = helper.make_node


@pytest.fixture
def parts(network):
    """Branches that meet, a constant that a node makes, an output and a node that nobody reads."""
    nodes = [
        node("Constant", [], ["half"], name="half", value_float=0.5),
        node("Mul", ["x", "half"], ["a"], name="mul"),
        node("Split", ["a"], ["b", "c"], name="split", axis=1, num_outputs=2),
        node("Dropout", ["b"], ["d", "mask"], name="drop"),
        node("Add", ["c", "bias"], ["e"], name="add"),
        node("Concat", ["d", "e"], ["f"], name="concat", axis=1),
        node("Neg", ["e"], ["n"], name="dead"),
        node("Sub", ["f", "a"], ["y"], name="sub"),
    ]
    path = network(nodes, {"bias": np.arange(3, dtype=np.float32)}, (1, 6), (1, 6))
    x = np.random.default_rng(1).normal(size=(1, 6)).astype(np.float32)
    return Parts(onnx.load(path), x)


def run(model, inputs):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = dict(zip((one.name for one in session.get_inputs()), inputs, strict=True))
    return {one.name: value for one, value in zip(session.get_outputs(), session.run(None, feeds), strict=True)}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.sets(st.integers(0, 6), min_size=1))
def test_any_part_answers_as_the_whole_does(parts, chosen):
    nodes = tuple(one for place, one in enumerate(parts.nodes) if place in chosen)
    if {one.name for one in nodes} == {"dead"}:
        with pytest.raises(CannotCutError, match="nothing reads"):
            parts.model(nodes)
        return
    model, inputs, outputs = parts.model(nodes)
    onnx.checker.check_model(model, full_check=True)
    assert [one.name for one in model.graph.node if one.op_type != "Constant"] == [one.name for one in nodes]
    answered = run(model, inputs)
    for value, expected in zip(answered.values(), outputs, strict=True):
        np.testing.assert_array_equal(value, expected)
    assert not {"mask", "n"} & answered.keys(), "nobody reads them"


def test_the_whole_has_the_outputs_of_the_model(parts):
    model, inputs, outputs = parts.model(parts.nodes)
    assert ([one.name for one in model.graph.input], [one.name for one in model.graph.output]) == (["x"], ["y"])
    assert [one.shape for one in (*inputs, *outputs)] == [(1, 6), (1, 6)]
