"""The artifact store in a local directory."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from deltann.errors import StoreAwayError, StoreError
from deltann.store.base import ArtifactStore

_FRESH = (
    ".fresh"  # where objects are written before they get their name; on the same file system, so a rename is atomic
)
_AWAY = (errno.ESTALE, errno.ENOTCONN, errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ETIMEDOUT)
"""What a file system of another host says when that is not there."""


class LocalStore(ArtifactStore):
    """Objects as files under ``root``, key for path.

    A put writes beside and renames; ``put_if_absent`` links, which fails where the name is taken, so that one of many
    writers wins, also over NFS. Nothing is flushed to the disk by force: blobs are verified when they are read.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
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
                return self._path(key).read_bytes()
            except (FileNotFoundError, IsADirectoryError):
                return None

    def put(self, key: str, data: bytes) -> None:
        """Write or replace an object."""
        with self._fresh(key) as (fresh, place):
            fresh.write_bytes(data)
            fresh.replace(place)

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write an object unless there is one: True for the one writer whose bytes are now stored."""
        with self._fresh(key) as (fresh, place):
            fresh.write_bytes(data)
            try:
                os.link(fresh, place)
            except FileExistsError:
                return False
            return True

    def exists(self, key: str) -> bool:
        """Whether there is an object under that key."""
        with self._explained(f"look for {key} in"):
            return self._path(key).is_file()

    def list(self, prefix: str) -> Iterator[str]:
        """The keys that begin with a prefix, in order."""
        folder = prefix.rpartition("/")[0]
        with self._explained(f"list {prefix} in"):
            yield from self._walk(self._path(folder) if folder else self.root, folder and f"{folder}/", prefix)

    def delete(self, key: str) -> None:
        """Remove an object; nothing happens where there is none."""
        with self._explained(f"delete {key} from"):
            self._path(key).unlink(missing_ok=True)

    def upload(self, key: str, path: Path) -> None:
        """Write or replace an object from a file, without reading it into memory whole."""
        with self._fresh(key) as (fresh, place):
            shutil.copyfile(path, fresh)
            fresh.replace(place)

    def download(self, key: str, file: BinaryIO) -> bool:
        """Copy an object into an open file: False where there is none."""
        with self._explained(f"read {key} from"):
            try:
                source = self._path(key).open("rb")
            except FileNotFoundError:
                return False
            with source:
                shutil.copyfileobj(source, file, 1 << 20)
            return True

    def _path(self, key: str) -> Path:
        parts = key.split("/")
        if any(part in ("", ".", "..", _FRESH) for part in parts) or "\0" in key:
            raise StoreError(f"The key {key!r} cannot be a key of the store: its parts have to be plain names.")
        return self.root.joinpath(*parts)

    def _walk(self, folder: Path, base: str, prefix: str) -> Iterator[str]:
        try:
            entries = sorted((entry.name + "/" * entry.is_dir(), entry.path) for entry in os.scandir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return
        for name, path in entries:
            key = base + name
            if name == f"{_FRESH}/" or not (key.startswith(prefix) or prefix.startswith(key)):
                continue
            if name.endswith("/"):
                yield from self._walk(Path(path), key, prefix)
            elif key.startswith(prefix):
                yield key

    @contextmanager
    def _fresh(self, key: str) -> Iterator[tuple[Path, Path]]:
        """A new file to write into and the place it shall take, whose folder exists."""
        place = self._path(key)
        with self._explained(f"write {key} into"):
            place.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.root / _FRESH)
            os.close(handle)
            try:
                yield Path(name), place
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(name)  # noqa: PTH108 - a str from mkstemp

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
