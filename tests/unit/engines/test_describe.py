import numpy as np
import onnx
import pytest
from deltann_engines.describe import describe
from onnx import TensorProto, helper, numpy_helper

from deltann.errors import ModelError


def save(path, nodes, weights, input_shape=(None, 3, 8, 8), output_shape=(None, 10), opset=17, constants=False):
    """An .onnx file of these nodes from ``x`` to ``y``; its weights as initialisers or as Constant nodes."""
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()]
    held = [helper.make_node("Constant", [], [tensor.name], value=tensor) for tensor in tensors]
    graph = helper.make_graph(
        [*(held if constants else []), *nodes],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [side or "n" for side in input_shape])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [side or "n" for side in output_shape])],
        [] if constants else tensors,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    return path


def classifier(path, classes=10, last=(), weights=None, shape=(None, 3, 8, 8), **more):
    """Mean over the image, a dense layer, and what is to come last."""
    axes = [2, 3] if shape[1] == 3 else [1, 2]
    weights = weights if weights is not None else np.random.default_rng(0).normal(size=(3, classes))
    dense = "y" if not last else "logits"
    nodes = [
        helper.make_node("ReduceMean", ["x"], ["mean"], axes=axes, keepdims=0),
        helper.make_node("Gemm", ["mean", "w", "b"], [dense]),
        *last,
    ]
    held = {"w": weights.astype(np.float32), "b": np.zeros((1, classes), np.float32)}
    return save(path, nodes, held, shape, (None, classes), **more)


SOFTMAX = (helper.make_node("Softmax", ["logits"], ["y"], axis=1),)


def test_describe_reads_shapes_layout_classes_and_opset(tmp_path):
    path = classifier(tmp_path / "m.onnx")
    info = describe(path, "onnx")
    assert (info.input.name, info.input.shape, info.input.dtype) == ("x", (None, 3, 8, 8), "float32")
    assert (info.input.layout, info.image_size) == ("NCHW", (8, 8))
    assert (info.output.name, info.output.shape) == ("y", (None, 10))
    assert (info.classes, info.class_offset, info.opset) == (10, 0, 17)
    assert info.size_bytes == path.stat().st_size
    assert info.framework == "onnx"


def test_describe_tells_nhwc_by_the_channels(tmp_path):
    assert describe(classifier(tmp_path / "m.onnx", shape=(1, 8, 8, 3)), "onnx").input.layout == "NHWC"


@pytest.mark.parametrize(("last", "kind"), [((), "logits"), (SOFTMAX, "probabilities")])
def test_describe_tells_the_output_kind_by_running_the_model(tmp_path, last, kind):
    assert describe(classifier(tmp_path / "m.onnx", last=last), "onnx").output_kind == kind


def test_describe_calls_a_map_of_values_values_without_classes(tmp_path):
    path = save(tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"])], {}, output_shape=(None, 3, 8, 8))
    info = describe(path, "onnx")
    assert (info.output_kind, info.classes) == ("values", None)


def test_describe_takes_a_background_class_off_1001(tmp_path):
    info = describe(classifier(tmp_path / "m.onnx", classes=1001), "onnx")
    assert (info.classes, info.class_offset) == (1001, 1)


def test_describe_believes_what_is_declared(tmp_path):
    info = describe(
        classifier(tmp_path / "m.onnx", classes=1001),
        "onnx",
        input_layout="none",
        output="probabilities",
        class_offset=0,
    )
    assert (info.input.layout, info.output_kind, info.class_offset) == ("none", "probabilities", 0)


def test_the_weights_fingerprint_is_of_the_classifier_in_any_layout_and_of_nothing_else(tmp_path):
    weights = np.random.default_rng(1).normal(size=(3, 10))
    plain = describe(classifier(tmp_path / "a.onnx", weights=weights), "onnx")
    held_as_constant = describe(classifier(tmp_path / "b.onnx", weights=weights, constants=True), "onnx")
    transposed = save(
        tmp_path / "c.onnx",
        [
            helper.make_node("ReduceMean", ["x"], ["mean"], axes=[2, 3], keepdims=0),
            helper.make_node("Gemm", ["mean", "w"], ["y"], transB=1),
        ],
        {"w": weights.T.astype(np.float32)},
    )
    other = describe(classifier(tmp_path / "d.onnx", weights=weights + 1e-3), "onnx")
    found = {plain.weights_fingerprint, held_as_constant.weights_fingerprint}
    assert found == {describe(transposed, "onnx").weights_fingerprint}
    assert other.weights_fingerprint not in found


def test_the_graph_fingerprint_is_of_operators_and_attributes_not_of_weights(tmp_path):
    one = describe(classifier(tmp_path / "a.onnx"), "onnx")
    two = describe(classifier(tmp_path / "b.onnx", weights=np.ones((3, 10))), "onnx")
    three = describe(classifier(tmp_path / "c.onnx", last=SOFTMAX), "onnx")
    assert one.graph_fingerprint == two.graph_fingerprint != three.graph_fingerprint


def test_a_model_without_weights_has_no_weights_fingerprint(tmp_path):
    path = save(tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"])], {}, output_shape=(None, 3, 8, 8))
    assert describe(path, "onnx").weights_fingerprint == ""


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_truncated_model_is_one_clear_paragraph(tmp_path, share):
    whole = classifier(tmp_path / "whole.onnx").read_bytes()
    path = tmp_path / "short.onnx"
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ModelError, match=r"short\.onnx cannot be read as a onnx model: .*truncated") as caught:
        describe(path, "onnx")
    assert "\n" not in str(caught.value)
