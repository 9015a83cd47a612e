"""Data sets that a person gives as files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deltann.data import Photo, find_photos, find_zipped, is_text_folder, read_arrays, read_sentences
from deltann_converter.datasets.base import DataSet, parts_by_folder


@dataclass(frozen=True)
class _PhotoFile:
    """A photo of a folder, read as one of a zip is."""

    id: str
    path: Path
    label: int | None

    def read(self) -> bytes:
        """Its bytes as they are."""
        return self.path.read_bytes()


def open_files(path: Path, name: str) -> DataSet:
    """A folder or zip of photos, a folder of sentences, or an ``.npz``.

    Args:
        path: where it lies.
        name: how the person knows it, for the message.

    Raises:
        DataError: for what is none of these, or is damaged.
    """
    if path.is_dir() and is_text_folder(path):
        sentences = read_sentences(path, name)
        return DataSet("sentences", sentences, [one.id for one in sentences], [one.label for one in sentences])
    if path.is_dir():
        return photo_set(_photos(path, name))
    if path.suffix == ".zip":
        zipped = find_zipped(path, name)
        ids = [one.id for one in zipped]
        return DataSet("images", zipped, ids, [one.label for one in zipped], parts_by_folder(ids))
    x, y = read_arrays(path, name)
    labels = [None] * len(x) if y is None else [int(label) for label in y]
    return DataSet("arrays", x, [f"{position:06d}" for position in range(len(x))], labels)


def photo_set(photos: list[Photo]) -> DataSet:
    """Photos as a data set."""
    ids = [photo.id for photo in photos]
    files = [_PhotoFile(photo.id, photo.path, photo.label) for photo in photos]
    return DataSet("images", files, ids, [photo.label for photo in photos], parts_by_folder(ids))


def _photos(folder: Path, name: str) -> list[Photo]:
    parts = [folder / part for part in ("train", "test")]
    if not all(part.is_dir() for part in parts) or {one.name for one in folder.iterdir()} != {"train", "test"}:
        return find_photos(folder, name)
    return [
        Photo(f"{part.name}/{photo.id}", photo.path, photo.label)
        for part in parts
        for photo in find_photos(part, f"{name}/{part.name}")
    ]
