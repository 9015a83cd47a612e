"""Every edge with the real tools, on tiny models, each judged by its parity with the model that it started from."""

import pytest

from deltann.errors import JobFailure

TORCH_CHAINS = [
    ("onnx",),
    ("onnx", "keras"),
    ("onnx", "tensorflow"),
    ("onnx", "tflite"),
    ("onnx", "keras", "onnx"),
    ("onnx", "tensorflow", "onnx"),
    ("onnx", "tflite", "onnx"),
    ("onnx", "keras", "tensorflow"),
    ("onnx", "keras", "tflite"),
    ("onnx", "keras", "onnx", "pytorch"),
]
KERAS_CHAINS = [
    ("onnx",),
    ("tensorflow",),
    ("tflite",),
    ("tensorflow", "tflite"),
    ("onnx", "pytorch"),
    ("onnx", "tensorflow"),
    ("onnx", "pytorch", "onnx"),
    ("onnx", "pytorch", "onnx", "keras"),
    ("tflite", "onnx", "pytorch"),
    ("tensorflow", "onnx", "keras"),
]
FORMAT = {"pytorch": "pt2", "keras": "keras_recipe", "tensorflow": "savedmodel", "tflite": "tflite", "onnx": "onnx"}


def _check(made, target):
    data = made.data
    assert data.parity.n == 8
    assert data.parity.n_invalid == 0
    assert data.parity.max_rel <= 1e-3
    assert data.parity.top1_agreement == 1.0
    assert data.info.format == FORMAT[target]
    assert data.step.target == target
    assert data.step.size_after == data.info.size_bytes > 0
    assert data.step.seconds > 0


@pytest.mark.parametrize("chain", TORCH_CHAINS, ids="-".join)
def test_from_pytorch(converter, torch_native, chain):
    made = converter.step(torch_native, *chain)
    _check(made, chain[-1])
    assert made.data.info.output_kind == "logits"
    assert (made.data.info.classes, made.data.info.class_offset) == (10, 0)


@pytest.mark.parametrize("chain", KERAS_CHAINS, ids="-".join)
def test_from_keras(converter, keras_native, chain):
    made = converter.step(keras_native, *chain)
    _check(made, chain[-1])
    assert made.data.info.output_kind == "probabilities"
    assert made.data.step.route == ("onnx" if "onnx" in (chain[-1], made.data.step.source) else "direct")


def test_torchscript_goes_to_onnx(converter, script_native):
    _check(converter.step(script_native, "onnx"), "onnx")


def test_the_opset_that_came_out_is_recorded_whatever_was_asked(converter, torch_native):
    by_tracing = converter.step(torch_native, "onnx", opset=13).data.step
    by_export = converter.step(torch_native, "onnx", opset=17, tool="torch-onnx-dynamo").data.step
    assert (by_tracing.tool, by_tracing.opset) == ("torch-onnx-script", 13)
    assert (by_export.tool, by_export.opset) == ("torch-onnx-dynamo", 18)


def test_normalising_is_recorded_and_switched_off(converter, keras_native):
    """Without it onnx2keras does not read the Squeeze that tf2onnx writes: a loud failure, and so a finding."""
    changes = converter.step(keras_native, "onnx", "keras").data.step.normalised
    assert any(change.startswith("squeeze_after_pool_to_flatten") for change in changes)
    with pytest.raises(JobFailure) as caught:
        converter.step(keras_native, "onnx", "keras", normalise=False)
    assert (caught.value.outcome, caught.value.stage) == ("convert_failed", "convert")
    assert caught.value.message.startswith("onnx2keras could not convert the model: ")


def test_a_silent_fault_is_seen_by_the_step_that_made_it(converter, tmp_path):
    """onnx2keras pads a max pool with 0 where ONNX pads with −inf: wrong wherever all values at a rim are negative."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.MaxPool2d(3, 2, padding=1), nn.Flatten(), nn.Linear(8 * 8 * 8, 10)
    ).eval()
    with torch.no_grad():
        network[0].bias.fill_(-3.0)
    path = tmp_path / "pool.pt2"
    torch.export.save(torch.export.export(network, (torch.zeros(1, 3, 16, 16),), strict=False), path)
    native = converter.resolve(path)
    to_onnx, to_keras = converter.step(native, "onnx").data.parity, converter.step(native, "onnx", "keras").data.parity
    assert to_onnx.max_rel < 1e-5
    assert to_keras.max_rel > 0.05


def test_a_silent_fault_at_the_end_of_a_chain_leaves_the_steps_before_it_clean(converter, torch_native):
    """TFLite's pad comes before the transpose that tf2onnx writes; onnx2keras pads axes 2 and 3 whatever the layout."""
    clean = converter.step(torch_native, "onnx", "tflite", "onnx").data.parity
    wrong = converter.step(torch_native, "onnx", "tflite", "onnx", "keras").data.parity
    assert (clean.max_rel < 1e-5, clean.top1_agreement) == (True, 1.0)
    assert wrong.max_rel > 0.1


def test_there_is_no_direct_way_from_pytorch_to_keras(converter, torch_native):
    with pytest.raises(JobFailure, match="no tool") as caught:
        converter.step(torch_native, "keras")
    assert caught.value.outcome == "convert_failed"


def test_an_operator_that_a_tool_does_not_know_is_one_sentence_with_its_name(converter, tmp_path):
    import onnx
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [helper.make_node("Det", ["input"], ["output"])],
        "g",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, 3])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1])],
    )
    path = tmp_path / "det.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    native = converter.resolve(path, output="values")
    with pytest.raises(JobFailure, match=r"onnx2torch could not convert the model: .*Det"):
        converter.step(native, "pytorch")
