"""The local store on a disk that is really full: it says so, keeps what it has, and leaves nothing half written."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from disks import MIB, fill

from deltann.artifact import ArtifactRef
from deltann.errors import StoreError
from deltann.store import LocalStore
from deltann.store.base import blob_key

BIG = b"x" * MIB
Write = Callable[[LocalStore, Path], object]

WRITES: dict[str, Write] = {
    "put": lambda store, file: store.put("a", BIG),
    "put a new one": lambda store, file: store.put("folder/new", BIG),
    "put_if_absent": lambda store, file: store.put_if_absent("new", BIG),
    "upload": lambda store, file: store.upload("a", file),
    "put_bytes": lambda store, file: store.put_bytes(BIG, "new"),
    "put_path": lambda store, file: store.put_path(file),
}


def objects(store: LocalStore) -> dict[str, bytes | None]:
    return {key: store.get(key) for key in store.list("")}


@pytest.mark.parametrize("name", WRITES)
def test_a_really_full_disk_is_told_and_loses_nothing(small_disk: Path, tmp_path: Path, name: str) -> None:
    store = LocalStore(small_disk / "store")
    store.put("a", b"old")
    kept = store.put_bytes(b"artifact", "kept")
    before = objects(store)
    file = tmp_path / "big"
    file.write_bytes(BIG)
    filler = fill(small_disk, leave=MIB // 2)
    with pytest.raises(StoreError, match=r"the disk is full\. Free some space and run it again") as caught:
        WRITES[name](store, file)
    assert "\n" not in str(caught.value)
    assert str(store.root) in str(caught.value)
    assert objects(store) == before
    assert list((store.root / ".fresh").iterdir()) == []
    assert store.read(kept) == b"artifact"
    assert store.materialise(kept, tmp_path / "cache").read_bytes() == b"artifact"
    filler.unlink()
    WRITES[name](store, file)
    assert BIG in objects(store).values()


def test_a_store_without_room_for_a_folder_is_told(small_disk: Path) -> None:
    fill(small_disk)
    store = LocalStore(small_disk / "store")  # a folder takes no block of this file system
    with pytest.raises(StoreError, match="the disk is full"):
        store.put("a", b"x")
    assert objects(store) == {}


def test_a_full_cache_is_told_and_holds_no_half_copy(small_disk: Path, tmp_path: Path) -> None:
    store, cache = LocalStore(tmp_path / "store"), small_disk / "cache"
    ref = store.put_bytes(BIG, "model.onnx")
    filler = fill(small_disk, leave=MIB // 2)
    with pytest.raises(StoreError, match=r"full|No space left") as caught:
        store.materialise(ref, cache)
    assert "\n" not in str(caught.value)
    assert [path for path in cache.rglob("*") if path.is_file()] == []
    filler.unlink()
    assert store.materialise(ref, cache).read_bytes() == BIG


def test_a_limit_on_the_size_of_files_is_told_and_loses_nothing(tmp_path: Path) -> None:
    """As a process under ``ulimit -f`` meets it: needs no right to mount."""
    store = LocalStore(tmp_path / "store")
    store.put("a", b"old")
    code = (
        "import resource, sys\n"
        "from deltann.errors import StoreError\n"
        "from deltann.store import LocalStore\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "store = LocalStore.from_url(sys.argv[1])\n"
        "for put in (store.put, store.put_if_absent):\n"
        "    for key in ('a', 'b'):\n"
        "        try:\n"
        "            put(key, bytes(1 << 20))\n"
        "        except StoreError as error:\n"
        "            print(error)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, store.url], capture_output=True, text=True, check=True)
    told = ended.stdout.splitlines()
    assert len(told) == 4
    assert all("File too large. Raise the limit on the size of files (ulimit -f)" in line for line in told)
    assert objects(store) == {"a": b"old"}
    assert list((store.root / ".fresh").iterdir()) == []


def test_blobs_of_a_full_disk_are_whole_or_not_there(small_disk: Path) -> None:
    store = LocalStore(small_disk / "store")
    refs: list[ArtifactRef] = []
    fills = (store.put_bytes(bytes([number]) * 100_000, "blob") for number in range(100))
    with pytest.raises(StoreError, match="the disk is full"):
        refs.extend(fills)
    assert 10 < len(refs) < 50
    assert sorted(store.list("blobs/")) == sorted(blob_key(ref.digest) for ref in refs)
    for number, ref in enumerate(refs):
        assert store.read(ref) == bytes([number]) * 100_000
