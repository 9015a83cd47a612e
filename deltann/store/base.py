"""What every artifact store can do. Small objects by key; artifacts by their content."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from deltann.artifact import ArtifactRef
from deltann.digest import digest_bytes, digest_file
from deltann.errors import CorruptArtifactError, StoreError
from deltann.store.packing import pack, unpack
from deltann.store.pieces import LEAST, copy_pieces, list_key, put_pieces


def blob_key(digest: str) -> str:
    """Where an artifact of that digest lies."""
    return f"blobs/{digest[:2]}/{digest}"


class ArtifactStore(ABC):
    """Objects under keys with ``/``. A put is atomic: a reader sees the whole object or none.

    Every method raises :class:`deltann.errors.StoreError` when the store is not there, is full or refuses.
    """

    @property
    @abstractmethod
    def url(self) -> str:
        """What :func:`deltann.store.open_store` makes this store of, without secrets."""

    @abstractmethod
    def get(self, key: str) -> bytes | None:
        """The object's bytes, or None where there is none."""

    @abstractmethod
    def put(self, key: str, data: bytes) -> None:
        """Write or replace an object."""

    @abstractmethod
    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write an object unless there is one: True for the one writer whose bytes are now stored."""

    @abstractmethod
    def exists(self, key: str) -> bool:
        """Whether there is an object under that key."""

    @abstractmethod
    def list(self, prefix: str) -> Iterator[str]:
        """The keys that begin with a prefix, in order."""

    @abstractmethod
    def delete(self, key: str) -> None:
        """Remove an object; nothing happens where there is none."""

    @abstractmethod
    def upload(self, key: str, path: Path) -> None:
        """Write or replace an object from a file, without reading it into memory whole."""

    @abstractmethod
    def download(self, key: str, file: BinaryIO) -> bool:
        """Copy an object into an open file: False where there is none."""

    # Artifacts: the same for every store.

    def put_bytes(self, data: bytes, name: str) -> ArtifactRef:
        """Store bytes as an artifact."""
        ref = ArtifactRef(digest=digest_bytes(data), size=len(data), name=name)
        if not self._has(ref):
            self.put(blob_key(ref.digest), data)
        return ref

    def has(self, digest: str) -> bool:
        """Whether there is an artifact of that digest."""
        return self.exists(blob_key(digest)) or self.exists(list_key(digest))

    def copy(self, digest: str, file: BinaryIO) -> bool:
        """Copy an artifact's bytes into an open file, as they are stored: False where they are not there."""
        return self.download(blob_key(digest), file) or copy_pieces(self, digest, file)

    def put_path(self, path: Path, name: str | None = None, *, shares: bool = False) -> ArtifactRef:
        """Store a file, or a folder packed as a tar whose bytes depend on nothing but names and contents.

        Args:
            path: of the file or folder.
            name: that a person would give it; its own where not given.
            shares: much of it may be in the store already, as of another module of the same model: it is stored in
                pieces, and each once.

        Raises:
            InputError: for a folder with links out of it, or with what cannot be read.
            StoreError: if the folder could not be packed.
        """
        if not path.is_dir():
            return self._put_file(path, name or path.name, "file", shares)
        try:
            with tempfile.NamedTemporaryFile(suffix=".tar") as packed:
                pack(path, packed)
                return self._put_file(Path(packed.name), name or path.name, "tar", shares)
        except OSError as error:
            raise StoreError(
                f"Could not pack the folder {path} into a temporary file: {error.strerror or error}. "
                "Free some space there, or name another folder for such files in TMPDIR."
            ) from error

    def _put_file(self, path: Path, name: str, packing: str, shares: bool) -> ArtifactRef:
        ref = ArtifactRef.model_validate(
            {"digest": digest_file(path), "size": path.stat().st_size, "name": name, "packing": packing}
        )
        if self._has(ref):
            return ref
        if shares and ref.size >= LEAST:
            put_pieces(self, ref.digest, path)
        else:
            self.upload(blob_key(ref.digest), path)
        return ref

    def _has(self, ref: ArtifactRef) -> bool:
        return self.has(ref.digest) if ref.size >= LEAST else self.exists(blob_key(ref.digest))

    def read(self, ref: ArtifactRef) -> bytes:
        """The verified bytes of an artifact.

        Raises:
            CorruptArtifactError: if they are not there or do not match the digest.
        """
        buffer = io.BytesIO()
        found = self.copy(ref.digest, buffer)
        data = buffer.getvalue()
        if not found or digest_bytes(data) != ref.digest:
            raise _corrupt(ref, self.url, missing=not found)
        return data

    def materialise(self, ref: ArtifactRef, cache: Path) -> Path:
        """A verified local copy: the file, or the folder that was packed. Made once per cache, then reused.

        Raises:
            CorruptArtifactError: if it is not there or does not match the digest.
            InputError: for a folder that is not packed as one.
            StoreError: if the cache cannot be written.
        """
        try:
            return self._materialise(ref, cache)
        except OSError as error:
            raise StoreError(
                f"Could not lay a copy of {ref.name} into the cache {cache}: {error.strerror or error}. "
                "Free some space there, or give this user the right to write there, and run it again."
            ) from error

    def _materialise(self, ref: ArtifactRef, cache: Path) -> Path:
        home = cache / ref.digest[:2] / ref.digest
        place = home / _file_name(ref.name)
        if place.exists():
            os.utime(home)  # whoever trims the cache goes by when something was used last
            return place
        home.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=home.parent, prefix="new-"))
        try:
            blob = fresh / "blob"
            with blob.open("wb") as file:
                found = self.copy(ref.digest, file)
            if not found or digest_file(blob) != ref.digest:
                raise _corrupt(ref, self.url, missing=not found)
            made = fresh / place.name
            if ref.packing == "tar":
                unpack(blob, made)
                blob.unlink()
            else:
                blob.rename(made)
            home.mkdir(exist_ok=True)
            if not place.exists():
                made.rename(place)
        except OSError:
            if not place.exists():  # another worker on this host may have been first
                raise
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        return place


def _file_name(name: str) -> str:
    """A name that leads nowhere else."""
    plain = name.replace("/", "_").replace("\0", "_")
    return "artifact" if plain in ("", ".", "..") else plain


def _corrupt(ref: ArtifactRef, url: str, *, missing: bool) -> CorruptArtifactError:
    what = "is not in the store" if missing else "has other bytes than its digest says and was refused"
    return CorruptArtifactError(
        f"The artifact {ref.name} ({ref.digest[:12]}…) {what} ({url}). "
        "Delete the results that name it, or restore the store from a copy, and run the sweep again."
    )
