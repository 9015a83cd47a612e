"""Reading and writing of the shards that :class:`deltann.kinds.resolve.DataShard` describes."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_image_shard(path: Path, photos: Sequence[bytes]) -> None:
    """Photos as members of an uncompressed zip, named by their position in six digits; the same bytes every time."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for position, photo in enumerate(photos):
            archive.writestr(zipfile.ZipInfo(f"{position:06d}", _EPOCH), photo)


def write_tensor_shard(path: Path, inputs: NDArray[Any]) -> None:
    """Inputs as one array, first axis the input."""
    with path.open("wb") as file:
        np.save(file, inputs, allow_pickle=False)


def read_shard(path: Path, kind: Literal["images", "tensors", "tokens"] | str) -> list[bytes] | NDArray[Any]:
    """The inputs of a shard: photos' bytes in order, or the array; of an adversarial set its array ``x``."""
    if kind != "images":
        found = np.load(path, allow_pickle=False)
        array: NDArray[Any] = found["x"] if isinstance(found, np.lib.npyio.NpzFile) else found
        return array
    with zipfile.ZipFile(path) as archive:
        return [archive.read(name) for name in sorted(archive.namelist())]
