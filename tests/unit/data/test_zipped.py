"""Photos in a zip."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from deltann.data import find_zipped
from deltann.errors import DataError


def zipped(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("train/", b"")
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_photos_are_read_where_they_lie_and_their_folder_is_their_class(tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "z.zip", **{"train/dog/b.jpg": b"b", "train/cat/a.PNG": b"a", "test/dog/c.jpg": b"c", "x/n.txt": b""}
    )
    found = find_zipped(path, "z.zip")
    assert [(one.id, one.label, one.read()) for one in found] == [
        ("test/dog/c.jpg", 1, b"c"),
        ("train/cat/a.PNG", 0, b"a"),
        ("train/dog/b.jpg", 1, b"b"),
    ]


@pytest.mark.parametrize("name", ["a.jpg", "x/train/cat/a.jpg"])
def test_photos_without_class_folders_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="do not lie in class folders"):
        find_zipped(zipped(tmp_path / "z.zip", **{name: b"a"}), "z.zip")


def test_what_is_no_zip_is_named(tmp_path: Path) -> None:
    (tmp_path / "z.zip").write_bytes(b"PK")
    with pytest.raises(DataError, match=r"z\.zip is no \.zip file"):
        find_zipped(tmp_path / "z.zip", "z.zip")


def test_a_photo_that_was_made_to_fill_memory_is_not_read(tmp_path: Path) -> None:
    path = zipped(tmp_path / "z.zip", **{"cat/a.jpg": b"\0" * (65 << 20)})
    assert path.stat().st_size < 1 << 20
    with pytest.raises(DataError, match="more than 64 MiB"):
        find_zipped(path, "z.zip")
