"""Staging: the files that a study names go into the store, so that it means the same on every machine."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Protocol

from deltann.artifact import ArtifactRef
from deltann.errors import DataError, ModelError, SpecError
from deltann.spec.models import DataEntry, Native, Study

_ZOO = re.compile(r"^(torchvision|keras):\w+@.+$")
_CODE = re.compile(r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")
_NAME = re.compile(r"^[A-Za-z_]\w*$")
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_PICKLES = (".pkl", ".pickle", ".pth", ".ckpt", ".bin")


class Uploader(Protocol):
    """What takes files: a store, or a gateway's client."""

    def put_path(self, path: Path, name: str | None = None) -> ArtifactRef:
        """Store a file, or a folder packed as a tar."""


def stage(study: Study, base: Path, store: Uploader, *, trust: bool = False) -> Study:
    """The study with its files stored.

    Args:
        study: as it was read.
        base: the folder that relative paths start from.
        store: where the files go.
        trust: allow models that are made by running code (``module:function``).

    Raises:
        ModelError: for a model file that is missing, empty, truncated, of no known format, or would run code.
        DataError: for a data set that is missing or empty.
        SpecError: for an environment variable that is not set.
    """
    models = tuple(
        entry.model_copy(update={"natives": tuple(_native(native, base, store, trust) for native in entry.natives)})
        for entry in study.models
    )
    return study.model_copy(update={"models": models, "data": _data(study.data, base, store)})


def expand(text: str) -> str:
    """``${NAME}`` and ``${NAME:-default}`` replaced from the environment.

    Raises:
        SpecError: for a variable that is not set and has no default.
    """

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1], match[2])
        if found is None:
            raise SpecError(
                f"{text!r} needs the environment variable {match[1]}, which is not set. Set it, or write "
                f"${{{match[1]}:-default}} in the study."
            )
        return found

    return _VARIABLE.sub(value, text)


def _native(native: Native, base: Path, store: Uploader, trust: bool) -> Native:
    if native.file is not None or _ZOO.match(native.source):
        return native
    source = expand(native.source)
    path = base / source
    if not path.exists():
        if _NAME.match(source):
            return native  # a ready loader; the converter knows which there are
        if _CODE.match(source):
            if not trust:
                raise ModelError(
                    f"The model {source!r} is made by running code, which is not done unasked. Run again with "
                    "--trust if you know this code, or save the model to a file and name that."
                )
            return native.model_copy(update={"trusted": True})
        raise ModelError(
            f"The model file {path} does not exist. Paths of a study start from the study's own folder; "
            "check the name, or name a loader, torchvision:NAME@WEIGHTS or keras:NAME@WEIGHTS."
        )
    _check_model(path)
    # The name of the staged file is in the sweep's id; the folders of this machine are not.
    return native.model_copy(update={"source": path.name, "file": store.put_path(path, path.name)})


def _check_model(path: Path) -> None:
    """Refuse what can be told from the first bytes; the converter reads the rest."""
    readable = "DeltaNN reads .pt2, TorchScript (.pt), .keras, SavedModel folders, .tflite and .onnx."
    if path.is_dir():
        if not (path / "saved_model.pb").is_file():
            raise ModelError(f"The folder {path} is no SavedModel: it has no saved_model.pb. {readable}")
        return
    with path.open("rb") as file:
        head = file.read(16)
    if not head:
        raise ModelError(f"The model file {path} is empty. Save the model again.")
    if path.suffix in _PICKLES or head[:1] == b"\x80":
        raise ModelError(
            f"{path} is a Python pickle (or is named like one). Reading it runs whatever code it holds, so DeltaNN "
            "does not. Save the model with torch.export.save (.pt2) or torch.jit.save, and name that file."
        )
    expected = {
        ".tflite": head[4:8] == b"TFL3",
        ".keras": head.startswith(b"PK"),
        ".pt2": head.startswith(b"PK"),
        ".pt": head.startswith(b"PK"),
        ".onnx": head[:1] == b"\x08",
    }
    if path.suffix not in expected:
        raise ModelError(f"The ending of {path} tells no model format. {readable}")
    if not expected[path.suffix]:
        raise ModelError(
            f"{path} does not begin as a {path.suffix} file does: it is truncated or of another format. {readable}"
        )


def _data(data: DataEntry, base: Path, store: Uploader) -> DataEntry:
    source = expand(data.source)
    path = base / source
    if data.archive is not None:
        return data
    if not path.exists():
        if re.match(r"^\w+:[\w-]+$", source):
            return data  # a package set, which the converter resolves
        raise DataError(
            f"The data set {path} does not exist. Name a folder of images, an .npz file, or a package set such as "
            "foolbox:imagenet; paths start from the study's own folder."
        )
    if path.is_dir() and not any(file.is_file() for file in path.rglob("*")):
        raise DataError(f"The data folder {path} holds no file, so there is nothing to run the models on.")
    if path.is_file() and path.suffix != ".npz":
        raise DataError(
            f"The data set {path} is a {path.suffix or 'plain'} file. Name a folder of images or an .npz file."
        )
    return data.model_copy(update={"source": path.name, "archive": store.put_path(path, path.name)})
