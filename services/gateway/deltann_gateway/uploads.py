"""Uploads on their way in: a file each, kept for a while where an upload breaks, so that it can be gone on with."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from deltann.artifact import ArtifactRef
from deltann.base import Data
from deltann.digest import digest_file
from deltann.errors import CorruptArtifactError, StoreError
from deltann_gateway.refusals import LimitError, OffsetError, TakenError


class UploadLimits(Data):
    """What a gateway takes of uploads.

    ``artifact_bytes`` is the largest, ``at_once`` how many arrive together, ``partial`` and ``partial_bytes`` how many
    files the folder of uploads has and what they take in all, ``keep_s`` how long one that broke is kept, and
    ``idle_s`` how long one may pause.
    """

    artifact_bytes: int = 4_096_000_000
    at_once: int = 8
    partial: int = 64
    partial_bytes: int = 16_384_000_000
    keep_s: float = 24 * 3600.0
    idle_s: float = 30.0


class Partial:
    """The file of one upload, held against every other process while it is open."""

    def __init__(self, ref: ArtifactRef, path: Path, file: BinaryIO, offset: int) -> None:
        self.path = path
        self._ref, self._file, self._got = ref, file, offset

    def write(self, data: bytes) -> None:
        """Append.

        Raises:
            CorruptArtifactError: for more bytes than were announced.
            StoreError: if the disk is full.
        """
        self._got += len(data)
        if self._got > self._ref.size:
            raise self._wrong()
        try:
            self._file.write(data)
        except OSError as error:
            raise _no_room(self.path.parent, error) from error

    def verify(self) -> None:
        """See that all has arrived and is right.

        Raises:
            CorruptArtifactError: if it is not. What arrived is kept where there is too little of it: a connection that
                breaks ends an upload as if its client had.
        """
        try:
            self._file.flush()
        except OSError as error:
            raise _no_room(self.path.parent, error) from error
        if self._got < self._ref.size:
            raise CorruptArtifactError(
                f"Of the {self._ref.size} bytes of {self._ref.name} {self._got} arrived, and nothing was stored. They "
                "are kept for a while: go on from there."
            )
        if digest_file(self.path) != self._ref.digest:
            raise self._wrong()

    def discard(self) -> None:
        """Throw away what arrived."""
        self.path.unlink(missing_ok=True)

    def _wrong(self) -> CorruptArtifactError:
        self.discard()
        return CorruptArtifactError(
            f"The bytes that arrived for {self._ref.name} are not the {self._ref.size} bytes that its SHA-256 "
            f"{self._ref.digest[:12]}… names, and nothing was stored. Send it again."
        )


class Spool:
    """A folder of uploads. Several gateways of a host may share it: what broke at one goes on at another.

    Gateways with folders of their own know nothing of each other's uploads: what broke at one begins again elsewhere,
    as :class:`OffsetError` and ``QueryUpload`` tell.

    Args:
        folder: made where it is missing.
        limits: what it may hold.
    """

    def __init__(self, folder: Path, limits: UploadLimits) -> None:
        self._folder, self._limits = folder, limits
        self._announced: dict[Path, int] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise _no_room(folder, error) from error
        self._expire()

    def received(self, owner: str, ref: ArtifactRef) -> int:
        """Bytes of an upload that are here."""
        self._expire()
        path = self._path(owner, ref)
        return path.stat().st_size if path.exists() else 0

    @contextmanager
    def open(self, owner: str, ref: ArtifactRef, offset: int) -> Iterator[Partial]:
        """The file of an upload, to be written from ``offset`` on.

        Raises:
            OffsetError: if less has arrived, or more.
            TakenError: if somebody writes it at the moment.
            LimitError: if there is no room for it.
        """
        self._expire()
        path = self._path(owner, ref)
        self._make_room(path, ref.size)
        with self._held(path, ref.name) as file:
            if offset == 0:
                file.truncate(0)
            elif offset != (size := file.seek(0, 2)):
                raise OffsetError(
                    f"Of {ref.name} {size} bytes have arrived at this gateway, so it cannot be gone on with at "
                    f"{offset}. Go on at {size}.",
                    retry_s=0.0,
                )
            self._announced[path] = ref.size
            try:
                yield Partial(ref, path, file, offset)
            finally:
                del self._announced[path]
                with suppress(OSError):  # a full disk has been told already
                    file.flush()

    def _held(self, path: Path, name: str) -> BinaryIO:
        """The file, held; a new one where whoever held it before has removed it meanwhile."""
        while True:
            try:
                file = path.open("ab")
            except OSError as error:
                raise _no_room(self._folder, error) from error
            if not _lock(file):
                file.close()
                raise TakenError(f"{name} is being sent already. Wait until that has ended.", retry_s=2.0)
            with suppress(FileNotFoundError):
                if os.path.samestat(path.stat(), os.fstat(file.fileno())):
                    return file
            file.close()

    def _path(self, owner: str, ref: ArtifactRef) -> Path:
        # Of each caller apart: nobody can spoil what another sends.
        return self._folder / hashlib.sha256(f"{owner}\0{ref.digest}\0{ref.size}".encode()).hexdigest()

    def _make_room(self, wanted: Path, size: int) -> None:
        others = [
            (stat.st_mtime, max(stat.st_size, self._announced.get(path, 0)), path)
            for path, stat in self._files()
            if path != wanted
        ]
        number, taken = len(others), sum(bytes_ for _, bytes_, _ in others)
        for _, bytes_, path in sorted(others):
            if number < self._limits.partial and taken + size <= self._limits.partial_bytes:
                return
            if _remove_idle(path):
                number, taken = number - 1, taken - bytes_
        if number >= self._limits.partial or taken + size > self._limits.partial_bytes:
            raise LimitError("This gateway has no room for another upload at the moment. Try again.", retry_s=10.0)

    def _expire(self) -> None:
        for path, stat in self._files():
            if stat.st_mtime < time.time() - self._limits.keep_s:
                _remove_idle(path)

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        for path in self._folder.iterdir():
            with suppress(FileNotFoundError):
                yield path, path.stat()


def _lock(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove_idle(path: Path) -> bool:
    """Remove a file that nobody writes."""
    with suppress(OSError), path.open("rb") as file:
        if _lock(file):
            path.unlink()
            return True
    return False


def _no_room(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"The gateway cannot keep uploads in its folder {folder}: {error.strerror or error}. Whoever runs it has to "
        "free some space there, or name another folder with --uploads."
    )
