"""The artifact store in a local directory."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from deltann.errors import StoreAwayError, StoreError
from deltann.store.base import ArtifactStore

_FRESH = ".fresh"
"""Where objects are written before they get their name; on the same file system, so a rename is atomic."""
_AWAY = (errno.ESTALE, errno.ENOTCONN, errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ETIMEDOUT)
"""What a file system of another host says when that is not there."""
_FORBIDDEN = frozenset(("", ".", "..", _FRESH))


class LocalStore(ArtifactStore):
    """Objects as files under ``root``, key for path.

    A put writes beside and renames; ``put_if_absent`` links, which fails where the name is taken, so that one of many
    writers wins, also over NFS. Nothing is flushed to the disk by force: blobs are verified when they are read.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        # Text and not paths: with small objects, making a path of every key takes longer than reading what is there.
        self._base = f"{self.root}/".replace("//", "/")
        self._writer, self._writes = uuid.uuid4().hex, itertools.count()
        with self._explained("open"):
            (self.root / _FRESH).mkdir(parents=True, exist_ok=True)

    @classmethod
    def from_url(cls, url: str) -> LocalStore:
        """A store of ``file:///path`` or a plain path."""
        parts = urlsplit(url)
        if parts.scheme not in ("", "file"):
            raise StoreError(
                f"The store {url!r} is of no kind that is known; use a path, file:///path, s3://HOST:PORT/BUCKET "
                "or s3+https://HOST:PORT/BUCKET."
            )
        return cls(Path(unquote(parts.path) if parts.scheme else url))

    @property
    def url(self) -> str:
        """``file:///…``."""
        return self.root.as_uri()

    def get(self, key: str) -> bytes | None:
        """The object's bytes, or None where there is none."""
        with self._explained(f"read {key} from"):
            try:
                with open(self._place(key), "rb", buffering=0) as file:
                    return file.read()
            except (FileNotFoundError, IsADirectoryError):
                return None

    def put(self, key: str, data: bytes) -> None:
        """Write or replace an object."""
        with self._fresh(key, lambda handle: _write(handle, data)) as (fresh, place):
            _into_folder(os.replace, fresh, place)

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write an object unless there is one: True for the one writer whose bytes are now stored."""
        with self._fresh(key, lambda handle: _write(handle, data)) as (fresh, place):
            try:
                _into_folder(os.link, fresh, place)
            except FileExistsError:
                return False
            return True

    def exists(self, key: str) -> bool:
        """Whether there is an object under that key."""
        with self._explained(f"look for {key} in"):
            return os.path.isfile(self._place(key))

    def list(self, prefix: str) -> Iterator[str]:
        """The keys that begin with a prefix, in order."""
        folder = prefix.rpartition("/")[0]
        with self._explained(f"list {prefix} in"):
            yield from self._walk(self._place(folder) if folder else self._base, folder and f"{folder}/", prefix)

    def delete(self, key: str) -> None:
        """Remove an object; nothing happens where there is none."""
        with self._explained(f"delete {key} from"), suppress(FileNotFoundError):
            os.unlink(self._place(key))

    def upload(self, key: str, path: Path) -> None:
        """Write or replace an object from a file, without reading it into memory whole."""
        with self._fresh(key, lambda handle: _copy(path, handle)) as (fresh, place):
            _into_folder(os.replace, fresh, place)

    def download(self, key: str, file: BinaryIO) -> bool:
        """Copy an object into an open file: False where there is none."""
        with self._explained(f"read {key} from"):
            try:
                source = open(self._place(key), "rb")  # noqa: SIM115 - closed below
            except FileNotFoundError:
                return False
            with source:
                shutil.copyfileobj(source, file, 1 << 20)
            return True

    def _place(self, key: str) -> str:
        if not _FORBIDDEN.isdisjoint(key.split("/")) or "\0" in key:
            raise StoreError(f"The key {key!r} cannot be a key of the store: its parts have to be plain names.")
        return self._base + key

    def _walk(self, folder: str, base: str, prefix: str) -> Iterator[str]:
        try:
            entries = sorted((entry.name + "/" * entry.is_dir(), entry.path) for entry in os.scandir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return
        for name, path in entries:
            key = base + name
            if name == f"{_FRESH}/" or not (key.startswith(prefix) or prefix.startswith(key)):
                continue
            if name.endswith("/"):
                yield from self._walk(path, key, prefix)
            elif key.startswith(prefix):
                yield key

    @contextmanager
    def _fresh(self, key: str, fill: Callable[[int], object]) -> Iterator[tuple[str, str]]:
        """A new file, filled and closed, which over NFS is when others can read it; and the place it shall take."""
        place = self._place(key)
        name = f"{self._base}{_FRESH}/{self._writer}-{os.getpid()}-{next(self._writes)}"
        with self._explained(f"write {key} into"):
            try:
                handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                try:
                    fill(handle)
                finally:
                    os.close(handle)
                yield name, place
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(name)

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason, advice = error.strerror or str(error), "Check the folder and run the same command again."
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                reason, advice = "the disk is full", "Free some space and run it again: what is computed is kept."
            elif error.errno == errno.EFBIG:
                advice = "Raise the limit on the size of files (ulimit -f) and run it again: what is computed is kept."
            elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                advice = "Give this user the right to write there, or name another folder."
            kind = StoreAwayError if error.errno in _AWAY else StoreError
            raise kind(f"Could not {what} the store at {self.root}: {reason}. {advice}") from error


def _write(handle: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]


def _copy(path: Path, handle: int) -> None:
    with path.open("rb") as source, open(handle, "wb", closefd=False) as file:
        shutil.copyfileobj(source, file, 1 << 20)


def _into_folder(move: Callable[[str, str], None], source: str, place: str) -> None:
    """Move a file to its place, whose folder is made where it is missing."""
    try:
        move(source, place)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        move(source, place)
