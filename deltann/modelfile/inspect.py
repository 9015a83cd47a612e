"""The format of a model file by its content, refused in one paragraph where it is not whole or would run code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deltann.errors import ModelError
from deltann.model import Format
from deltann.modelfile import archive, flatbuffer, mlpackage, onnx, savedmodel
from deltann.modelfile.damage import Damaged, Refused

READABLE = "DeltaNN reads .pt2, TorchScript (.pt), .keras, SavedModel folders, .tflite, .onnx and .mlpackage folders."
PICKLE = (
    "is a Python pickle. Reading it runs whatever code it holds, so DeltaNN does not. "
    "Save the model with torch.export.save (.pt2) or torch.jit.save, and name that file."
)
_KNOWN_OTHERS = {
    b"\x89HDF\r\n\x1a\n": "an HDF5 file, the old format of Keras; load it in Keras and save it again as .keras",
    b"version https://git-lfs": "a Git LFS pointer and not the file itself; fetch that with `git lfs pull`",
    b"<!DOCTYPE": "a web page, so its download went wrong; download it again",
    b"<html": "a web page, so its download went wrong; download it again",
}


@dataclass(frozen=True)
class ModelFile:
    """A model file that is whole, as far as its structure tells.

    Args:
        path: the file itself, also where it was found in a folder.
        format: by content, whatever its name.
        beside: further files that it needs, each in the file's folder or below it.
    """

    path: Path
    format: Format
    beside: tuple[Path, ...] = ()


def inspect(path: Path, shown: str) -> ModelFile:
    """What a model file, a SavedModel folder or a folder of one ONNX file with its data files is.

    Args:
        path: where it lies.
        shown: how the person knows it, for the message.

    Raises:
        ModelError: for what is empty, truncated, of no known format or would run code.
    """
    try:
        return _folder(path) if path.is_dir() else _file(path)
    except Damaged as damaged:
        raise ModelError(f"{shown} is {damaged}. {READABLE}") from damaged
    except Refused as refused:
        raise ModelError(f"{shown} {refused}") from refused
    except OSError as error:
        raise ModelError(
            f"{shown} cannot be read ({error.strerror or error}). Check the file's permissions."
        ) from error


def _folder(path: Path) -> ModelFile:
    if (path / "saved_model.pb").is_file():
        savedmodel.check(path)
        return ModelFile(path, "savedmodel")
    if mlpackage.is_one(path):
        mlpackage.check(path)
        return ModelFile(path, "mlpackage")
    match list(path.glob("*.onnx")):
        case [model]:
            return _file(model)
        case []:
            raise Damaged("a folder without saved_model.pb")
        case _:
            raise Damaged("a folder of several .onnx files; name one of them")


def _file(path: Path) -> ModelFile:
    with path.open("rb") as file:
        head = file.read(32)
    if not head:
        raise Refused("is empty. Save the model again.")
    if head[:1] == b"\x80":
        raise Refused(PICKLE)
    if head[4:8] == b"TFL3":
        flatbuffer.check(path)
        return ModelFile(path, "tflite")
    if head.startswith(b"PK"):
        return ModelFile(path, archive.format_of(path))
    for begin, what in _KNOWN_OTHERS.items():
        if head.startswith(begin):
            raise Damaged(what)
    if path.suffix == ".onnx" or head[:1] == b"\x08":
        return ModelFile(path, "onnx", onnx.check(path))
    raise Damaged("of no known format, or so damaged that it does not begin as one")
