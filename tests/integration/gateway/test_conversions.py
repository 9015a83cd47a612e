"""Conversions over gRPC by the real converter, on a network small enough to be quick."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from deltann.artifact import ArtifactRef
from deltann.client import GatewayClient
from deltann.errors import InputError, NotFoundError


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """Convolution, ReLU, mean, dense: 3 × 8 × 8 in, 4 logits out."""
    random = np.random.default_rng(7)
    weights = {
        "k": random.normal(size=(5, 3, 3, 3)).astype(np.float32),
        "w": random.normal(size=(5, 4)).astype(np.float32),
        "b": random.normal(size=4).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "k"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["g"], name="mean"),
        helper.make_node("Flatten", ["g"], ["f"], name="flat"),
        helper.make_node("Gemm", ["f", "w", "b"], ["y"], name="dense"),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path = tmp_path / "small.onnx"
    onnx.save(model, path)
    return path


def test_a_model_is_converted_and_answers_the_same(client: GatewayClient, network: Path, tmp_path: Path) -> None:
    cid = client.conversions.submit(client.store.put_path(network), "tensorflow", source="onnx")
    *_, last = client.conversions.watch(cid)
    assert last.state == "succeeded", last.error
    assert [step.target for step in last.steps][-1] == "tensorflow"
    parity = last.steps[-1].parity
    assert parity is not None
    assert parity.max_rel is not None
    assert parity.max_rel < 1e-4
    client.conversions.fetch(cid, tmp_path / "saved")
    assert (tmp_path / "saved" / "saved_model.pb").is_file()
    assert client.conversions.submit(client.store.put_path(network), "tensorflow", source="onnx") == cid
    assert client.conversions.status(cid) == last


def test_a_file_that_is_no_model_fails_with_its_reason(client: GatewayClient, tmp_path: Path) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"this is no model")
    cid = client.conversions.submit(client.store.put_path(path), "pytorch")
    *_, last = client.conversions.watch(cid)
    assert last.state == "failed"
    assert last.error
    with pytest.raises(NotFoundError, match="has no model"):
        client.conversions.fetch(cid, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_model_that_was_not_uploaded_is_not_found(client: GatewayClient) -> None:
    ref = ArtifactRef(digest="5" * 64, size=9, name="never.onnx")
    with pytest.raises(NotFoundError, match="Upload it first"):
        client.conversions.submit(ref, "keras")


def test_an_unknown_framework_is_refused(client: GatewayClient, network: Path) -> None:
    ref = client.store.put_path(network)
    with pytest.raises(InputError, match="caffe"):
        client.conversions.submit(ref, "caffe")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["conversion-none", "../etc", "", "conversion-a/b"])
def test_an_unknown_conversion_is_not_found(client: GatewayClient, name: str) -> None:
    with pytest.raises(NotFoundError, match="no conversion"):
        client.conversions.status(name)
