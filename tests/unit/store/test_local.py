"""What only the local store does: names of keys, full disks, rights."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from deltann.errors import StoreError
from deltann.store import LocalStore, open_store


@pytest.mark.parametrize("key", ["", "/a", "a//b", "../a", "a/../b", "a/.", "a\0b", ".fresh/x"])
def test_a_key_that_could_leave_the_store_is_refused(tmp_path: Path, key: str) -> None:
    store = LocalStore(tmp_path)
    with pytest.raises(StoreError, match="cannot be a key"):
        store.put(key, b"")


def test_open_store_takes_paths_and_file_urls(tmp_path: Path) -> None:
    folder = tmp_path / "with space"
    LocalStore(folder).put("a", b"1")
    assert open_store(str(folder)).get("a") == b"1"
    assert open_store(folder.as_uri()).get("a") == b"1"
    assert open_store(LocalStore(folder).url).get("a") == b"1"
    with pytest.raises(StoreError, match="no kind that is known"):
        open_store("ftp://host/x")


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (errno.ENOSPC, "disk is full.*Free some space"),
        (errno.EFBIG, "File too large.*ulimit -f"),
        (errno.EACCES, "Permission denied.*the right to write"),
    ],
)
def test_what_the_disk_refuses_is_one_paragraph_and_leaves_the_old_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, told: str
) -> None:
    store = LocalStore(tmp_path)
    store.put("a", b"old")

    def refuse(handle: int, data: bytes) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "write", refuse)
    with pytest.raises(StoreError, match=told) as caught:
        store.put("a", b"new")
    monkeypatch.undo()
    assert "\n" not in str(caught.value)
    assert store.get("a") == b"old"
    assert list((tmp_path / ".fresh").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Could not open the store"):
        LocalStore(tmp_path / "file" / "store")
