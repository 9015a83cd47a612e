"""Any bytes are a model or are refused as none, before any framework sees them."""

from __future__ import annotations

import json
import shutil
import tracemalloc
import zipfile
from pathlib import Path

import flatbuffers
import pytest
import tflite
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from deltann.errors import ModelError
from deltann.modelfile import inspect

from .harness import METHODS, brief, hold, mutated, zipped

FORMATS = ["keras", "pt2", "old pt2", "torchscript", "onnx", "tflite"]


def held(path: Path, content: bytes) -> ModelError | None:
    path.write_bytes(content)
    refusal = hold(lambda: inspect(path, "the file"), ModelError)
    assert refusal is None or isinstance(refusal, ModelError)
    return refusal


@pytest.mark.parametrize("kind", FORMATS)
def test_a_whole_file_with_other_bytes(whole: dict[str, Path], tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"changed{whole[kind].suffix}"

    @brief(60)
    @given(mutated(whole[kind].read_bytes()))
    def fuzz(content: bytes) -> None:
        held(path, content)

    fuzz()


@pytest.mark.parametrize("kind", ["keras", "pt2", "old pt2", "torchscript", "torch.save"])
def test_a_whole_archive_of_other_members(members: dict[str, dict[str, bytes]], tmp_path: Path, kind: str) -> None:
    content = members[kind]

    @brief(60)
    @given(st.data(), st.sampled_from(METHODS))
    def fuzz(data: st.DataObject, method: int) -> None:
        changed = dict(content)
        name = data.draw(st.sampled_from(sorted(changed)))
        changed[name] = data.draw(mutated(changed[name]))
        other = data.draw(st.sampled_from([name, name.upper(), f"x/{name}", f"/{name}", f"../{name}", "n\n" * 9000]))
        changed[other] = changed.pop(name)
        archive = zipped(changed, method)
        held(tmp_path / "m.zip", archive)
        held(tmp_path / "m.zip", data.draw(mutated(archive)))

    fuzz()


@pytest.mark.parametrize(
    ("member", "method"),
    [("config.json", method) for method in METHODS[1:]]
    + [("metadata.json", zipfile.ZIP_DEFLATED), ("model.weights.h5", zipfile.ZIP_DEFLATED)],
)
def test_an_archive_that_explodes_is_not_read_whole(
    members: dict[str, dict[str, bytes]], tmp_path: Path, member: str, method: int
) -> None:
    path = tmp_path / "m.keras"
    path.write_bytes(zipped(members["keras"] | {member: b" " * (80 << 20)}, method))
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match=member):
            inspect(path, "the file")
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("method", METHODS[1:])
def test_a_compressed_member_with_other_bytes(
    members: dict[str, dict[str, bytes]], tmp_path: Path, method: int
) -> None:
    whole = zipped(members["keras"], method)
    path = tmp_path / "m.keras"
    path.write_bytes(whole)
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("config.json")
    for at in range(info.header_offset, info.header_offset + 41 + info.compress_size):
        for byte in (0, 0x55, 0xFF):
            held(path, whole[:at] + bytes([byte]) + whole[at + 1 :])


@pytest.mark.parametrize("depth", [50, 990, 5000, 100_000])
def test_a_configuration_of_any_depth(members: dict[str, dict[str, bytes]], tmp_path: Path, depth: int) -> None:
    for begin, end in ("[", "]"), ('{"a":', "}"):
        config = f'{{"config": {begin * depth}{json.dumps(1)}{end * depth}}}'.encode()
        held(tmp_path / "m.keras", zipped(members["keras"] | {"config.json": config}))


def test_tables_that_are_shared_are_not_walked_again_and_again(tmp_path: Path) -> None:
    """Thousands of graphs that are one, of thousands of tensors that are one."""
    builder = flatbuffers.Builder()

    def shared(table: int, times: int) -> int:
        builder.StartVector(4, times, 4)
        for _ in range(times):
            builder.PrependUOffsetTRelative(table)
        return int(builder.EndVector())

    tflite.TensorStart(builder)
    tensors = shared(tflite.TensorEnd(builder), 20_000)
    tflite.SubGraphStart(builder)
    tflite.SubGraphAddTensors(builder, tensors)
    graphs = shared(tflite.SubGraphEnd(builder), 20_000)
    tflite.BufferStart(builder)
    buffers = shared(tflite.BufferEnd(builder), 1)
    tflite.OperatorCodeStart(builder)
    codes = shared(tflite.OperatorCodeEnd(builder), 1)
    tflite.ModelStart(builder)
    tflite.ModelAddOperatorCodes(builder, codes)
    tflite.ModelAddSubgraphs(builder, graphs)
    tflite.ModelAddBuffers(builder, buffers)
    builder.Finish(tflite.ModelEnd(builder), file_identifier=b"TFL3")
    refusal = held(tmp_path / "m.tflite", bytes(builder.Output()))
    assert refusal is not None
    assert "lie in one another" in str(refusal)


@pytest.mark.parametrize("location", ["d" * 5000, "a\nb\x1b[2J", "..", "", "/", "./" * 3000 + "x", "\ufffd", "a\0b"])
@pytest.mark.parametrize("length", ["1", "-1", "9" * 5000, "1e3", "٣", ""])
def test_external_data_at_any_place(tmp_path: Path, location: str, length: str) -> None:
    tensor = TensorProto(name="w", data_type=1, dims=[1], data_location=TensorProto.EXTERNAL)
    for key, value in ("location", location), ("length", length):
        tensor.external_data.add(key=key, value=value)
    graph = helper.make_graph([], "g", [], [], [tensor])
    content = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    assert held(tmp_path / "m.onnx", content) is not None


def test_graphs_in_one_another(tmp_path: Path) -> None:
    for depth in (10, 200, 2000):
        inner = b""
        for _ in range(depth):
            for number in (6, 5, 1):  # a graph of an attribute of a node
                inner = field(number, inner)
        held(tmp_path / "m.onnx", b"\x08\x0a" + field(7, inner) + field(8, b"\x10\x11"))


def field(number: int, content: bytes) -> bytes:
    size, length = len(content), b""
    while True:
        length += bytes([(size & 0x7F) | (0x80 if size > 0x7F else 0)])
        size >>= 7
        if not size:
            return bytes([number << 3 | 2]) + length + content


@pytest.mark.parametrize("part", ["saved_model.pb", "variables/variables.index"])
def test_a_saved_model_with_other_bytes(saved_model: Path, tmp_path: Path, part: str) -> None:
    whole = (saved_model / part).read_bytes()
    folder = tmp_path / "changed"
    shutil.copytree(saved_model, folder)

    @brief(60)
    @given(st.one_of(mutated(whole), st.binary(max_size=80)))
    def fuzz(content: bytes) -> None:
        (folder / part).write_bytes(content)
        hold(lambda: inspect(folder, "the folder"), ModelError)

    fuzz()
