"""Artifacts in pieces, in every kind of store: what comes out, what is stored once, what is missing."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest

from deltann.artifact import ArtifactRef
from deltann.errors import CorruptArtifactError
from deltann.store import ArtifactStore
from deltann.store.base import blob_key
from deltann.store.pieces import LEAST, list_key, piece_key

WEIGHTS = random.Random(1).randbytes(6 * LEAST)


def put(store: ArtifactStore, folder: Path, data: bytes, *, shares: bool = True) -> ArtifactRef:
    path = folder / f"{len(list(folder.iterdir()))}.so"
    path.write_bytes(data)
    return store.put_path(path, shares=shares)


def stored(store: ArtifactStore) -> int:
    return sum(len(store.get(key) or b"") for key in store.list("pieces/") if not key.startswith("pieces/lists/"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "made").mkdir()
    return tmp_path / "made"


def test_modules_of_the_same_weights_take_little_more_than_one(store: ArtifactStore, folder: Path) -> None:
    modules = [random.Random(level).randbytes(30_000 + 1000 * level) + WEIGHTS + b"end" for level in range(5)]
    refs = [put(store, folder, data) for data in modules]
    assert [store.read(ref) for ref in refs] == modules
    assert stored(store) < 1.5 * len(modules[0])  # five of them
    place = store.materialise(refs[4], folder.parent / "cache")
    assert place.read_bytes() == modules[4]
    before = list(store.list(""))
    assert put(store, folder, modules[0]).digest == refs[0].digest
    assert list(store.list("")) == before


def test_how_it_is_stored_is_nobodys_business(store: ArtifactStore, folder: Path) -> None:
    small, whole, shared = (
        put(store, folder, b"x" * (LEAST - 1)),
        put(store, folder, WEIGHTS, shares=False),
        put(store, folder, WEIGHTS[1:]),
    )
    assert [store.exists(blob_key(ref.digest)) for ref in (small, whole, shared)] == [True, True, False]
    assert all(store.has(ref.digest) for ref in (small, whole, shared))
    assert not store.has("0" * 64)
    again = store.put_bytes(WEIGHTS[1:], "again")
    assert (again.digest, store.exists(blob_key(again.digest))) == (shared.digest, False)
    buffer = io.BytesIO()
    assert store.copy(shared.digest, buffer)
    assert buffer.getvalue() == WEIGHTS[1:]


@pytest.mark.parametrize("fault", ["gone", "other", "list"])
def test_a_piece_that_is_gone_or_wrong_is_told_and_never_used(store: ArtifactStore, folder: Path, fault: str) -> None:
    ref = put(store, folder, WEIGHTS)
    listed = (store.get(list_key(ref.digest)) or b"").decode().split("\n")
    assert len(listed) > 10
    if fault == "gone":
        store.delete(piece_key(listed[3]))
    elif fault == "other":
        store.put(piece_key(listed[3]), b"other")
    else:
        store.put(list_key(ref.digest), b"../../x\n" + "\n".join(listed).encode())
    what = "has other bytes" if fault == "other" else "is not in the store"
    with pytest.raises(CorruptArtifactError, match=what):
        store.read(ref)
    with pytest.raises(CorruptArtifactError, match=what):
        store.materialise(ref, folder.parent / "cache")
