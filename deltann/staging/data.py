"""A data set on its way into the store."""

from __future__ import annotations

import re
from pathlib import Path

from deltann.artifact import ArtifactRef
from deltann.data import find_photos, find_zipped, is_text_folder, read_arrays, read_sentences
from deltann.errors import DataError
from deltann.spec.data import DataEntry
from deltann.staging.files import Uploader, is_there, meant, name_of

_NAMED_SET = re.compile(r"^(foolbox|mlxtend|torchvision|keras):[\w-]+$")
_PARTS = {"train", "test"}


def stage_inputs(data: DataEntry, base: Path, store: Uploader) -> DataEntry:
    """The inputs that a person names: files, checked and stored, or a named set as it is.

    Raises:
        DataError: for a data set that is missing, empty, damaged, or does not match its labels.
    """
    path = base / data.source
    if is_there(path):
        return data.model_copy(update={"source": name_of(path), "archive": stage_data(path, store)})
    if _NAMED_SET.match(data.source):
        return data  # the converter knows which there are
    raise DataError(
        f"The data set {path} does not exist. {meant(path)}Name a folder of images, an .npz file, or a package set "
        "such as foolbox:imagenet; paths in a study start from the study's own folder."
    )


def stage_data(path: Path, store: Uploader) -> ArtifactRef:
    """A folder or zip of photos, a folder of sentences or an ``.npz``, checked and stored.

    Raises:
        DataError: for a data set that is empty, damaged, or does not match its labels.
    """
    if path.is_dir():
        _check_folder(path)
    elif path.suffix == ".zip":
        find_zipped(path, str(path))
    elif path.suffix == ".npz":
        read_arrays(path, str(path))
    else:
        raise DataError(
            f"The data set {path} is a {path.suffix or 'plain'} file. Name a folder of images or an .npz file."
        )
    return store.put_path(path, name_of(path))


def _check_folder(path: Path) -> None:
    if is_text_folder(path):
        read_sentences(path, str(path))
    elif {one.name for one in path.iterdir()} == _PARTS:
        for part in sorted(_PARTS):
            find_photos(path / part, f"{path}/{part}")
    else:
        find_photos(path, str(path))
