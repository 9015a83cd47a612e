"""Graphs of every format, node by node: they compute what the engine computes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from deltann_engines.describe import describe
from deltann_engines.graphs import open_graph
from deltann_engines.trace import trace

SHARED = Path(os.environ.get("DELTANN_SHARED", Path(__file__).resolve().parents[4] / "shared"))
MODELS = SHARED / "data" / "models"

needs_models = pytest.mark.skipif(not MODELS.is_dir(), reason=f"the shared models are not at {MODELS} (DELTANN_SHARED)")

WALK = """
import sys
from pathlib import Path
import numpy as np
from deltann_engines.base import load
from deltann_engines.describe import describe
from deltann_engines.graphs import open_graph
from deltann_engines.parity import seeded_inputs
from deltann_engines.trace import trace
from deltann.model import ENGINE_OF
path, fmt = Path(sys.argv[1]), sys.argv[2]
info = describe(path, fmt)
x = seeded_inputs(info, 1, 0)
with load(ENGINE_OF[info.framework], path, info) as session:
    expected = session.run(x)
graph = open_graph(path, info)
layers = []
found = trace(graph, x, lambda layer: layers.append((layer.node.name, layer.node.kind, layer.values.shape)))
names = {name for name, _, _ in layers}
print("WALKED", len(graph.nodes), len(names), np.abs(found - expected).max() / np.abs(expected).max())
print("KINDS", *sorted({kind for _, kind, _ in layers}))
"""


def walk(path, fmt):
    """In a fresh process, since frameworks do not meet in one: numbers of nodes and names, deviation, kinds."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WALK, str(path), fmt],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.startswith(("W", "K"))}
    nodes, names, deviation = told["WALKED"]
    return int(nodes), int(names), float(deviation), told["KINDS"]


@needs_models
@pytest.mark.parametrize(
    ("file", "fmt", "nodes", "kind"),
    [
        ("mobilenet_v2.onnx", "onnx", 104, "Conv"),
        ("mobilenet_v2.tflite", "tflite", 64, "DEPTHWISE_CONV_2D"),
        ("mobilenet_v2.pt2", "pt2", 156, "aten.conv2d"),
        ("mobilenet_v2.torchscript.pt", "torchscript", 156, "aten._convolution"),
        ("mobilenet_v2.keras", "keras", 155, "DepthwiseConv2D"),
        ("saved_model", "savedmodel", 212, "DepthwiseConv2dNative"),
    ],
)
def test_a_real_model_walked_node_by_node_answers_as_its_engine(file, fmt, nodes, kind):
    found, names, deviation, kinds = walk(MODELS / "mobilenet_v2" / file, fmt)
    assert found == names == nodes
    assert deviation < 1e-5
    assert kind in kinds


@needs_models
def test_quantised_layers_are_told_in_real_numbers():
    path = MODELS / "efficientnet_lite0" / "efficientnet_lite0_int8.tflite"
    info = describe(path, "tflite")
    from deltann_engines.parity import seeded_inputs

    layers = {}
    trace(open_graph(path, info), seeded_inputs(info, 1, 0), lambda layer: layers.update({layer.output: layer.values}))
    relu = next(values for name, values in layers.items() if name.startswith("efficientnet-lite0/model/stem/Relu6"))
    assert relu.dtype == np.float32
    assert 0 <= relu.min() < 1 < relu.max() <= 6.1
    stored = layers["Softmax"] * 256
    np.testing.assert_array_equal(stored, np.round(stored))
    assert 0 < stored.max() <= 255


def test_constants_of_an_onnx_model_belong_to_the_nodes_that_read_them(tmp_path):
    import onnx
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [
            helper.make_node("Constant", [], ["two"], value=helper.make_tensor("t", TensorProto.FLOAT, [], [2.0])),
            helper.make_node("Neg", ["two"], ["minus"]),
            helper.make_node("Mul", ["x", "minus"], ["scaled"], name="scale"),
            helper.make_node("Split", ["scaled"], ["left", "right"], name="split", axis=1, num_outputs=2),
            helper.make_node("Sub", ["right", "left"], ["y"], name="difference"),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])],
    )
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)
    opened = open_graph(path, describe(path, "onnx"))
    assert [(node.name, node.inputs) for node in opened.nodes] == [
        ("scale", ("x",)), ("split", ("scaled",)), ("difference", ("right", "left")),
    ]  # fmt: skip
    seen = {}
    result = trace(
        opened, np.array([[1, 2, 3, 5]], np.float32), lambda layer: seen.update({layer.output: layer.values})
    )
    np.testing.assert_array_equal(seen["scaled"], [[-2, -4, -6, -10]])
    np.testing.assert_array_equal(result, [[-4, -6]])


def test_branches_of_an_onnx_model_read_what_lies_outside_them(tmp_path):
    import onnx
    from onnx import TensorProto, helper

    value = helper.make_tensor_value_info
    then = helper.make_graph(
        [helper.make_node("Add", ["twice", "twice"], ["then"])], "then", [], [value("then", TensorProto.FLOAT, [1, 2])]
    )
    other = helper.make_graph(
        [helper.make_node("Neg", ["twice"], ["else"])], "else", [], [value("else", TensorProto.FLOAT, [1, 2])]
    )
    graph = helper.make_graph(
        [
            helper.make_node("Add", ["x", "x"], ["twice"], name="twice"),
            helper.make_node("ReduceSum", ["x"], ["sum"], name="sum", keepdims=0),
            helper.make_node("Greater", ["sum", "zero"], ["positive"], name="positive"),
            helper.make_node("If", ["positive"], ["y"], name="if", then_branch=then, else_branch=other),
        ],
        "g",
        [value("x", TensorProto.FLOAT, [1, 2])],
        [value("y", TensorProto.FLOAT, [1, 2])],
        [helper.make_tensor("zero", TensorProto.FLOAT, [], [0.0])],
    )
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)
    opened = open_graph(path, describe(path, "onnx"))
    assert opened.nodes[-1].inputs == ("positive", "twice")
    for x, expected in (([[1.0, 2.0]], [[4.0, 8.0]]), ([[-1.0, -2.0]], [[2.0, 4.0]])):
        np.testing.assert_array_equal(trace(opened, np.array(x, np.float32), lambda layer: None), expected)
