"""Every command that takes a model or data refuses what a study would, in one paragraph, before anything is stored."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from typer.testing import Result

Command = Callable[..., Result]


def network(path: Path, *, external: str | None = None) -> bytes:
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [64])],
        [numpy_helper.from_array(np.arange(64, dtype=np.float32), "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.save(model, path, save_as_external_data=external is not None, location=external, size_threshold=0)
    return path.read_bytes()


def _cut(folder: Path) -> Path:
    path = folder / "cut.onnx"
    path.write_bytes(network(folder / "whole.onnx")[:-20])
    return path


def _written(name: str, content: bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return write


def _saved_by_torch(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "net.pt", "w") as archive:
        archive.writestr("net/data.pkl", b"\x80\x02.")
        archive.writestr("net/version", b"3")
    return folder / "net.pt"


def _without_weights(folder: Path) -> Path:
    network(folder / "big.onnx", external="big.data")
    (folder / "big.data").unlink()
    return folder / "big.onnx"


def _short_weights(folder: Path) -> Path:
    network(folder / "big.onnx", external="big.data")
    os.truncate(folder / "big.data", 8)
    return folder / "big.onnx"


def _folder(folder: Path) -> Path:
    (folder / "no model").mkdir()
    return folder / "no model"


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.onnx")
    return folder / "pipe.onnx"


BAD_MODELS = {
    "missing": (lambda folder: folder / "none.onnx", "none.onnx"),
    "empty": (_written("empty.onnx", b""), "is empty"),
    "truncated": (_cut, "truncated"),
    "pickle": (_written("net.pth", b"\x80\x04."), "Python pickle"),
    "pickle under another name": (_written("net.onnx", b"\x80\x04."), "Python pickle"),
    "saved by torch.save": (_saved_by_torch, "torch.save"),
    "other format": (_written("net.tflite", b"\x08\x08\x3a\x03\x12\x01g\x42\x02\x10\x11"), "of the format onnx"),
    "text": (_written("net.keras", b"hello"), "no known format"),
    "no ending": (_written("net", b"\x08\x08"), "tells no model format"),
    "external data missing": (_without_weights, "big.data"),
    "external data truncated": (_short_weights, "big.data"),
    "folder": (_folder, "saved_model.pb"),
    "pipe": (_pipe, "neither a file nor a folder"),
    "device": (lambda folder: Path("/dev/null"), "neither a file nor a folder"),
    "unknown loader": (lambda folder: "efficientnet_lite", "Did you mean efficientnet_lite0?"),
    "code": (lambda folder: "os:getcwd", "--trust"),
    "no name": (lambda folder: "", "has no name"),
}
COMMANDS = {
    "convert": ("convert", "MODEL", "--to", "tflite", "--out", "made.tflite"),
    "compile": ("compile", "MODEL", "--out", "made.so"),
    "run": ("run", "MODEL", "--data", "photos", "--preprocess", "tf", "--out", "made.npz"),
    "compare a": ("compare", "MODEL", "whole.npz", "--data", "photos", "--preprocess", "tf"),
    "compare b": ("compare", "whole.npz", "MODEL", "--data", "photos", "--preprocess", "tf"),
}


@pytest.fixture
def whole(tmp_path: Path) -> None:
    np.savez(tmp_path / "whole.npz", labels=np.zeros((1, 1), np.int32), valid=np.array([True]))
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/a.png").write_bytes(b"x")


def refused(done: Result, *words: str) -> None:
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


def nothing_stored(tmp_path: Path) -> None:
    assert not list((tmp_path / "home").rglob("blobs/*/*"))
    assert not list(tmp_path.glob("made*"))


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("kind", BAD_MODELS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_bad_model(deltann: Command, tmp_path: Path, command: str, kind: str) -> None:
    make, word = BAD_MODELS[kind]
    model = make(tmp_path)
    done = deltann(*(str(model) if part == "MODEL" else part for part in COMMANDS[command]))
    refused(done, word, Path(model).name)
    nothing_stored(tmp_path)


@pytest.mark.parametrize("kind", sorted(BAD_MODELS.keys() - {"code", "unknown loader", "no name"}))
def test_a_bad_model_is_not_sent_to_a_gateway(
    deltann: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    class Gateway:
        def __init__(self, address: str) -> None: ...

        def __enter__(self) -> Gateway:
            return self

        def __exit__(self, *_: object) -> None: ...

        @property
        def store(self) -> Gateway:
            return self

        def put_path(self, path: Path, name: str) -> None:
            raise AssertionError("nothing is to be sent")

    monkeypatch.setattr("deltann.cli.convert.GatewayClient", Gateway)
    make, word = BAD_MODELS[kind]
    refused(deltann("convert", make(tmp_path), "--to", "onnx", "--out", "made.onnx", "--gateway", "x:1"), word)


def _no_photos(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


def _wrong_labels(folder: Path) -> Path:
    (folder / "photos/labels.csv").write_text("file,label\nelsewhere.png,1\n")
    return folder / "photos"


def _link_out(folder: Path) -> Path:
    (folder / "photos/b.png").symlink_to("/etc/hostname")
    return folder / "photos"


def _objects(folder: Path) -> Path:
    np.savez(folder / "objects.npz", x=np.array([[{}]], dtype=object))
    return folder / "objects.npz"


BAD_DATA = {
    "missing": (lambda folder: folder / "fotos", "Did you mean photos?"),
    "empty": (_no_photos, "holds no photos"),
    "labels": (_wrong_labels, "elsewhere.png"),
    "link": (_link_out, "leads out of its folder"),
    "truncated": (_written("cut.npz", b"PK\x03\x04"), "truncated"),
    "objects": (_objects, "Python objects"),
    "file": (_written("photo.png", b"x"), "photo.png is a .png file"),
    "unknown set": (lambda folder: "foolbx:imagenet", "foolbox:imagenet"),
    "device": (lambda folder: "/dev/zero", "neither a file nor a folder"),
}


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("kind", BAD_DATA)
@pytest.mark.parametrize("command", ["run", "compare b"])
def test_bad_data(deltann: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, kind: str) -> None:
    monkeypatch.setattr("deltann.cli.single.Bench.model", lambda *_, **__: None)  # nothing is run
    make, word = BAD_DATA[kind]
    data = str(make(tmp_path))
    done = deltann(*({"MODEL": "m.onnx", "photos": data}.get(part, part) for part in COMMANDS[command]))
    refused(done, word)
    nothing_stored(tmp_path)


def _outputs(**arrays: object) -> Callable[[Path], Path]:
    whole = {"labels": np.zeros((2, 1), np.int32), "valid": np.array([True, True])}

    def write(folder: Path) -> Path:
        kept = {name: array for name, array in (whole | arrays).items() if array is not None}
        np.savez(folder / "bad.npz", **kept)  # type: ignore[arg-type]
        return folder / "bad.npz"

    return write


BAD_OUTPUTS = {
    "missing": (lambda folder: folder / "bad.npz", "no file has that name"),
    "empty": (_written("bad.npz", b""), "truncated"),
    "truncated": (_written("bad.npz", b"PK\x03\x04"), "truncated"),
    "no labels": (_outputs(labels=None), "labels"),
    "objects": (_outputs(labels=np.array([[{}]], dtype=object)), "bad.npz"),
    "other shape": (_outputs(labels=np.zeros(2, np.int32)), "shape [2]"),
    "other length": (_outputs(labels=np.zeros((3, 1), np.int32)), "shape [3, 1]"),
    "no ranks": (_outputs(labels=np.zeros((2, 0), np.int32)), "do not fit"),
    "other type": (_outputs(labels=np.zeros((2, 1), np.str_)), "labels"),
    "scalar": (_outputs(valid=np.array(True)), "valid"),
    "ids": (_outputs(ids=np.array(["only one"])), "do not fit"),
    "folder": (lambda folder: (folder / "bad.npz").mkdir() or folder / "bad.npz", "bad.npz"),
}


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("kind", BAD_OUTPUTS)
def test_bad_outputs(deltann: Command, tmp_path: Path, kind: str) -> None:
    make, word = BAD_OUTPUTS[kind]
    bad = make(tmp_path)
    refused(deltann("compare", bad, "whole.npz"), "bad.npz", word)
    refused(deltann("compare", "whole.npz", bad), "bad.npz", word)


@pytest.mark.parametrize("about", [None, "{}", "not json", "longer"])
def test_a_module_needs_its_own_description(deltann: Command, tmp_path: Path, about: str | None) -> None:
    (tmp_path / "m.so").write_bytes(b"\x7fELF")
    if about == "longer":
        about = (
            '{"info": {"framework": "onnx", "format": "onnx", "inputs": [], "outputs": []}, "target": {}, '
            '"passes": [], "size_bytes": 9, "cpu_seconds": 0, "kernels": 1}'
        )
    if about is not None:
        (tmp_path / "m.json").write_text(about)
    refused(deltann("run", "m.so", "--data", "photos", "--preprocess", "tf", "--out", "o.npz"), "m.so", "m.json")
