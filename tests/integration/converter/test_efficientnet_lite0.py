"""One chain of the real, pretrained network: through TFLite and back to PyTorch."""

import pytest

CHAIN = ("onnx", "tflite", "onnx", "pytorch")


@pytest.fixture(scope="module")
def native(converter):
    return converter.call("resolve_model", {"source": "efficientnet_lite0"})


def test_the_chain_through_tflite_and_back_keeps_every_label(converter, native):
    steps = [converter.step(native, *CHAIN[: end + 1]).data for end in range(len(CHAIN))]
    assert [step.step.tool for step in steps] == ["torch-onnx-script", "onnx2keras", "tf2onnx", "onnx2torch"]
    assert [step.info.format for step in steps] == ["onnx", "tflite", "onnx", "pt2"]
    assert [step.info.input.layout for step in steps] == ["NCHW", "NHWC", "NHWC", "NHWC"]
    for step in steps:
        assert step.parity.max_rel < 1e-4
        assert step.parity.top1_agreement == 1.0
    assert len({native.data.info.weights_fingerprint, *(step.info.weights_fingerprint for step in steps)}) == 1
