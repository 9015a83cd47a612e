"""Staging: the files that a study names go into the store, so that it means the same on every machine."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from deltann.artifact import ArtifactRef
from deltann.data import find_photos, read_arrays
from deltann.errors import DataError, InputError, ModelError, SpecError
from deltann.model import Format
from deltann.modelfile import PICKLE, READABLE, ModelFile, inspect
from deltann.spec.models import DataEntry, Native, Study

_ZOO = re.compile(r"^(torchvision|keras):\w+@.+$")
_CODE = re.compile(r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")
_NAME = re.compile(r"^[A-Za-z_]\w*$")
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_PICKLES = (".pkl", ".pickle", ".pth", ".ckpt", ".bin")
_ENDINGS: dict[str, tuple[Format, ...]] = {
    ".tflite": ("tflite",),
    ".keras": ("keras",),
    ".pt2": ("pt2",),
    ".pt": ("torchscript", "pt2"),
    ".onnx": ("onnx",),
}
_LARGEST_ONNX = 2**31


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
        DataError: for a data set that is missing, empty, damaged or does not match its labels.
        InputError: for a folder with links out of it.
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
        if source.startswith(("torchvision:", "keras:")):
            raise ModelError(
                f"The model {source!r} names no weights. Write {source}@DEFAULT for torchvision, {source}@imagenet for "
                f"keras, or {source}@random(seed=1) for neither."
            )
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
    # The name of the staged file is in the sweep's id; the folders of this machine are not.
    return native.model_copy(update={"source": path.name, "file": stage_model(path, store)})


def stage_model(path: Path, store: Uploader) -> ArtifactRef:
    """A model file or folder, checked and stored; an ONNX model with external data becomes a folder.

    Raises:
        ModelError: for what is empty, truncated, of no known format, or would run code.
    """
    if path.suffix in _PICKLES:
        raise ModelError(f"{path} {PICKLE}")
    if path.is_file() and path.suffix not in _ENDINGS:
        raise ModelError(f"The ending of {path} tells no model format. {READABLE}")
    found = inspect(path, str(path))
    if path.is_file() and found.format not in _ENDINGS[path.suffix]:
        raise ModelError(
            f"{path} ends in {path.suffix} but holds a model of the format {found.format}. Name the file after what it "
            "holds, or name the right file."
        )
    if path.is_dir():
        _check_links(path)
    return _with_files_beside(found, path, store) if found.beside else store.put_path(path, path.name)


def _with_files_beside(model: ModelFile, path: Path, store: Uploader) -> ArtifactRef:
    size = sum(file.stat().st_size for file in (model.path, *model.beside))
    if size >= _LARGEST_ONNX:
        raise ModelError(
            f"The ONNX model {path} and its data files have {size / 2**30:.1f} GiB. DeltaNN converts ONNX models as "
            "one protobuf message, which ends at 2 GiB; use a smaller model, or one stored in float16."
        )
    home = model.path.parent
    with TemporaryDirectory() as folder:
        for file in (model.path, *model.beside):
            place = Path(folder, os.path.normpath(file.relative_to(home)))
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)
        return store.put_path(Path(folder), path.name)


def stage_data(path: Path, store: Uploader) -> ArtifactRef:
    """A folder of photos or an ``.npz``, checked and stored.

    Raises:
        DataError: for a data set that is empty, damaged, or does not match its labels.
    """
    if path.is_dir():
        find_photos(path, str(path))
        _check_links(path)
    elif path.suffix == ".npz":
        read_arrays(path, str(path))
    else:
        raise DataError(
            f"The data set {path} is a {path.suffix or 'plain'} file. Name a folder of images or an .npz file."
        )
    return store.put_path(path, path.name)


def _check_links(folder: Path) -> None:
    """A folder is stored as it is, links included, so none may lead to what is not stored with it."""
    home = folder.resolve()
    for path in folder.rglob("*"):
        if path.is_symlink() and not (path.exists() and path.resolve().is_relative_to(home)):
            raise InputError(
                f"{path} is a link that leads out of its folder, or nowhere, so it would mean nothing on another "
                f"machine. Copy the folder with its links followed (cp -rL {folder} COPY) and name the copy."
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
    return data.model_copy(update={"source": path.name, "archive": stage_data(path, store)})
