"""A data set on its way into the store."""

from __future__ import annotations

import re
from pathlib import Path

from deltann.artifact import ArtifactRef
from deltann.data import find_photos, read_arrays
from deltann.errors import DataError
from deltann.spec.models import DataEntry
from deltann.staging.files import Uploader, is_there, meant, name_of

_PACKAGE_SET = re.compile(r"^foolbox:[\w-]+$")


def stage_inputs(data: DataEntry, base: Path, store: Uploader) -> DataEntry:
    """The inputs that a person names: a folder or an ``.npz``, checked and stored, or a package set as it is.

    Raises:
        DataError: for a data set that is missing, empty, damaged, or does not match its labels.
    """
    path = base / data.source
    if is_there(path):
        return data.model_copy(update={"source": name_of(path), "archive": stage_data(path, store)})
    if _PACKAGE_SET.match(data.source):
        return data  # the converter knows which there are
    raise DataError(
        f"The data set {path} does not exist. {meant(path)}Name a folder of images, an .npz file, or a package set "
        "such as foolbox:imagenet; paths in a study start from the study's own folder."
    )


def stage_data(path: Path, store: Uploader) -> ArtifactRef:
    """A folder of photos or an ``.npz``, checked and stored.

    Raises:
        DataError: for a data set that is empty, damaged, or does not match its labels.
    """
    if path.is_dir():
        find_photos(path, str(path))
    elif path.suffix == ".npz":
        read_arrays(path, str(path))
    else:
        raise DataError(
            f"The data set {path} is a {path.suffix or 'plain'} file. Name a folder of images or an .npz file."
        )
    return store.put_path(path, name_of(path))
