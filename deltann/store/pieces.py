"""Artifacts in pieces that others share: a model's modules at five levels differ in their code, not in their weights.

Where a piece ends depends on the bytes before it alone (content-defined chunking, FastCDC: Xia et al., USENIX ATC
2016), so that equal stretches become equal pieces wherever in a file they lie, and each is stored once.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from deltann.digest import digest_bytes

if TYPE_CHECKING:
    from deltann.store.base import ArtifactStore

LEAST = 1 << 20
"""Bytes of the smallest artifact that is cut."""
AVERAGE = 1 << 17
"""Bytes of a piece: smaller ones share a little more, and take a request each."""
_AT_ONCE = 8
_DIGEST = re.compile(r"[0-9a-f]{64}")


def list_key(digest: str) -> str:
    """Where the list of an artifact's pieces lies."""
    return f"pieces/lists/{digest[:2]}/{digest}"


def piece_key(digest: str) -> str:
    """Where a piece of that digest lies."""
    return f"pieces/{digest[:2]}/{digest}"


def put_pieces(store: ArtifactStore, digest: str, path: Path) -> None:
    """Store what of a file no other has stored, then the list that makes the file of it."""

    def put(piece: tuple[int, int]) -> str:
        data = os.pread(file.fileno(), *piece)
        name = digest_bytes(data)
        if not store.exists(piece_key(name)):
            store.put(piece_key(name), data)
        return name

    with path.open("rb") as file, ThreadPoolExecutor(_AT_ONCE) as threads:
        names = list(threads.map(put, _cut(path)))
    store.put(list_key(digest), "\n".join(names).encode())


def copy_pieces(store: ArtifactStore, digest: str, file: BinaryIO) -> bool:
    """Copy an artifact into an open file: False where there is no list of it, or one of its pieces is gone."""
    listed = store.get(list_key(digest))
    if listed is None:
        return False
    names = iter(listed.decode().split("\n"))
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        while some := list(itertools.islice(names, 2 * _AT_ONCE)):
            if not all(map(_DIGEST.fullmatch, some)):
                return False
            for data in threads.map(lambda name: store.get(piece_key(name)), some):
                if data is None:
                    return False
                file.write(data)
    return True


def _cut(path: Path) -> Iterator[tuple[int, int]]:
    """Length and offset of each piece of a file, in order."""
    from fastcdc import fastcdc

    for piece in fastcdc(str(path), AVERAGE // 4, AVERAGE, AVERAGE * 8):
        yield piece.length, piece.offset
