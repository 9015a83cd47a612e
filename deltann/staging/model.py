"""A model on its way into the store."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory

from deltann.artifact import ArtifactRef
from deltann.errors import ModelError
from deltann.model import Format
from deltann.modelfile import PICKLE, READABLE, ModelFile, inspect
from deltann.spec.models import Native
from deltann.staging.files import Uploader, is_there, meant, name_of

_ZOO = re.compile(r"^(torchvision|keras):\w+@.+$")
_CODE = re.compile(r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")
_NAME = re.compile(r"^[A-Za-z_]\w*$")
_PICKLES = (".pkl", ".pickle", ".pth", ".ckpt", ".bin")
_ENDINGS: dict[str, tuple[Format, ...]] = {
    ".tflite": ("tflite",),
    ".keras": ("keras",),
    ".pt2": ("pt2",),
    ".pt": ("torchscript", "pt2"),
    ".onnx": ("onnx",),
}
_LARGEST_ONNX = 2**31


def stage_native(
    native: Native, base: Path, store: Uploader, *, trust: bool = False, loaders: Collection[str] | None = None
) -> Native:
    """The model that a person names: a file or folder, checked and stored, or a package's model as it is.

    Args:
        native: with its source.
        base: the folder that relative paths start from.
        store: where files go.
        trust: allow models that are made by running code (``module:function``).
        loaders: the names of all ready loaders; None where only the converter knows them.

    Raises:
        ModelError: for a model that is missing, empty, truncated, of no known format, or would run code.
    """
    source = native.source
    if _ZOO.match(source):
        return native
    path = base / source
    if is_there(path):
        # The name of the staged file is in the sweep's id; the folders of this machine are not.
        return native.model_copy(update={"source": name_of(path), "file": stage_model(path, store)})
    if _NAME.match(source) and (loaders is None or source in loaders):
        return native
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
    known = f" Loaders are: {', '.join(sorted(loaders))}." if loaders is not None else ""
    raise ModelError(
        f"There is no model {source!r}: {path} does not exist{', and no loader has that name' if known else ''}. "
        f"{meant(path, loaders or ())}Name a file, with its path from the study's own folder where it is in a study, "
        f"a loader, torchvision:NAME@WEIGHTS or keras:NAME@WEIGHTS.{known}"
    )


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
    return _with_files_beside(found, path, store) if found.beside else store.put_path(path, name_of(path))


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
        return store.put_path(Path(folder), name_of(path))
