"""Small whole models of every format, written by hand or by the format's own package, never by a framework."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import flatbuffers
import numpy as np
import onnx
import pytest
import tflite
from onnx import TensorProto, helper, numpy_helper

Write = Callable[..., Path]


@pytest.fixture
def archive(tmp_path: Path) -> Write:
    def write(name: str, **members: bytes) -> Path:
        path = tmp_path / name
        with zipfile.ZipFile(path, "w") as made:
            for member, content in members.items():
                made.writestr(member, content)
        return path

    return write


KERAS = {
    "metadata.json": json.dumps({"keras_version": "3"}).encode(),
    "config.json": json.dumps({"class_name": "Sequential"}).encode(),
    "model.weights.h5": b"\x89HDF\r\n\x1a\n" + bytes(40),
}
PT2 = {
    "m/archive_format": b"pt2",
    "m/archive_version": b"0",
    "m/models/model.json": b"{}",
    "m/data/weights/weight_0": bytes(64),
}
OLD_PT2 = {"serialized_exported_program.json": b"{}", "version": b"8.2"}
TORCHSCRIPT = {
    "m/data.pkl": b"\x80\x02.",
    "m/constants.pkl": b"\x80\x02.",
    "m/code/__torch__/m.py": b"class M: ...",
    "m/version": b"3\n",
}
TORCH_SAVE = {"m/data.pkl": b"\x80\x02cos\nsystem\n.", "m/version": b"3\n", "m/data/0": bytes(16)}


@pytest.fixture
def onnx_file(tmp_path: Path) -> Write:
    def write(name: str = "m.onnx", external: str | None = None, nested: bool = False) -> Path:
        weight = numpy_helper.from_array(np.arange(64, dtype=np.float32).reshape(8, 8), "w")
        nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
        if nested:
            nodes.insert(0, helper.make_node("Constant", [], ["w"], value=weight))
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8])],
            [] if nested else [weight],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if external is None:
            onnx.save(model, path)
        else:
            onnx.save(
                model, path, save_as_external_data=True, location=external, size_threshold=0, convert_attribute=nested
            )
        return path

    return write


@pytest.fixture
def tflite_file(tmp_path: Path) -> Path:
    """A graph of one tensor, with everything that a converter writes for it."""
    builder = flatbuffers.Builder()

    def tables(ends: list[int]) -> int:
        builder.StartVector(4, len(ends), 4)
        for end in reversed(ends):
            builder.PrependUOffsetTRelative(end)
        return builder.EndVector()

    custom = builder.CreateString("Custom")
    tflite.OperatorCodeStart(builder)
    tflite.OperatorCodeAddCustomCode(builder, custom)
    code = tflite.OperatorCodeEnd(builder)
    codes = tables([code])
    data = builder.CreateByteVector(bytes(range(64)))
    tflite.BufferStart(builder)
    tflite.BufferAddData(builder, data)
    buffers = tables([tflite.BufferEnd(builder)])
    name = builder.CreateString("input")
    shape = builder.CreateNumpyVector(np.array([1, 16], np.int32))
    tflite.TensorStart(builder)
    tflite.TensorAddName(builder, name)
    tflite.TensorAddShape(builder, shape)
    tensors = tables([tflite.TensorEnd(builder)])
    inputs = builder.CreateNumpyVector(np.array([0], np.int32))
    tflite.SubGraphStart(builder)
    tflite.SubGraphAddTensors(builder, tensors)
    tflite.SubGraphAddInputs(builder, inputs)
    tflite.SubGraphAddOutputs(builder, inputs)
    graphs = tables([tflite.SubGraphEnd(builder)])
    tflite.ModelStart(builder)
    tflite.ModelAddVersion(builder, 3)
    tflite.ModelAddOperatorCodes(builder, codes)
    tflite.ModelAddSubgraphs(builder, graphs)
    tflite.ModelAddBuffers(builder, buffers)
    builder.Finish(tflite.ModelEnd(builder), file_identifier=b"TFL3")
    path = tmp_path / "m.tflite"
    path.write_bytes(bytes(builder.Output()))
    return path


@pytest.fixture
def saved_model(tmp_path: Path) -> Path:
    """Field 1 is the schema's version, field 2 a graph that speaks of variables."""
    folder = tmp_path / "saved"
    (folder / "variables").mkdir(parents=True)
    graph = b"\x0a\x0bVarHandleOp"
    (folder / "saved_model.pb").write_bytes(b"\x08\x01\x12" + bytes([len(graph)]) + graph)
    (folder / "variables/variables.index").write_bytes(bytes(40) + bytes.fromhex("57fb808b247547db"))
    (folder / "variables/variables.data-00000-of-00001").write_bytes(bytes(16))
    return folder


@pytest.fixture
def whole(archive: Write, onnx_file: Write, tflite_file: Path) -> dict[str, Path]:
    """One whole file of every format that is a file."""
    return {
        "keras": archive("m.keras", **KERAS),
        "pt2": archive("m.pt2", **PT2),
        "old pt2": archive("old.pt2", **OLD_PT2),
        "torchscript": archive("m.pt", **TORCHSCRIPT),
        "onnx": onnx_file(),
        "tflite": tflite_file,
    }


@pytest.fixture
def members() -> dict[str, dict[str, bytes]]:
    """The members of every archive."""
    return {"keras": KERAS, "pt2": PT2, "old pt2": OLD_PT2, "torchscript": TORCHSCRIPT, "torch.save": TORCH_SAVE}
