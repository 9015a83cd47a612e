"""A folder as a tar whose bytes depend on nothing but the names and contents of its files."""

from __future__ import annotations

import errno
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from deltann.errors import InputError, first_line

MOST_MEMBERS = 100_000
"""Files and folders of one packed folder at most."""
_OF_NAMES = {errno.EEXIST, errno.EILSEQ, errno.EINVAL, errno.EISDIR, errno.ENAMETOOLONG, errno.ENOTDIR}
"""Errors of the system that come of the members' names: too long, or a file where another member has a folder."""


def pack(folder: Path, file: IO[bytes]) -> None:
    """Write a folder as a tar: links within it as what they lead to, and neither times, owners nor rights.

    Raises:
        InputError: for a link that leads out of the folder or back into itself, and for what cannot be read.
    """
    # Names are bytes to the system, and the same bytes here whatever the language of this machine.
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT, encoding="utf-8") as tar:
        for name, path in members(folder):
            info = tarfile.TarInfo(name)
            if path.is_dir():
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(info)
                continue
            with _opened(path) as content:
                info.size, info.mode = path.stat().st_size, 0o644
                tar.addfile(info, content)
    file.flush()


def unpack(packed: Path, folder: Path) -> None:
    """Lay out a folder that :func:`pack` packed, or something else that only looks like it: it comes from a client.

    Nothing is written outside of ``folder``, and no more than the tar's own size: links, devices, sparse files and
    compression, by which an archive escapes or explodes, are refused.

    Raises:
        InputError: if it is no such tar.
    """
    try:
        with tarfile.open(packed, mode="r:", encoding="utf-8") as tar:
            for count, member in enumerate(tar):
                if count >= MOST_MEMBERS:
                    raise InputError(f"The folder {folder.name} has more than {MOST_MEMBERS} files. Make it smaller.")
                if not _is_plain(member):
                    raise InputError(
                        f"The folder {folder.name} holds {member.name!r}, which is no plain file or folder within it, "
                        "so it was not unpacked. Send it with DeltaNN's own client, which packs what links lead to."
                    )
                _lay_out(tar, member, folder / member.name)
        folder.mkdir(exist_ok=True)
    except (tarfile.TarError, ValueError, OverflowError, RecursionError) as error:
        raise _damaged(folder, error) from error
    except OSError as error:
        if error.errno not in _OF_NAMES:
            raise
        raise _damaged(folder, error) from error


def _lay_out(tar: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
    """Write one member by hand: not every Python 3.11 has the filters of :mod:`tarfile`."""
    if member.isdir():
        place.mkdir(parents=True, exist_ok=True)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    content = tar.extractfile(member)
    assert content is not None, "a plain file has content"
    with content, place.open("wb") as file:
        shutil.copyfileobj(content, file, 1 << 20)


def _is_plain(member: tarfile.TarInfo) -> bool:
    """Whether a member is a file or folder, whole, below the folder."""
    below = not member.name.startswith("/") and ".." not in member.name.split("/")
    return below and member.size >= 0 and not member.issparse() and (member.isreg() or member.isdir())


def _damaged(folder: Path, error: Exception) -> InputError:
    why = (error.strerror if isinstance(error, OSError) else None) or first_line(error)
    return InputError(
        f"The folder {folder.name} is not packed as DeltaNN packs one, or is damaged: {why}. Pack or send it again."
    )


def members(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every file and folder below, by its name from there with ``/``; links within the folder are followed.

    Raises:
        InputError: for a link that leads out of the folder or back into itself, and for what cannot be stored.
    """
    return _members(folder, (folder.resolve(),))


def _members(folder: Path, within: tuple[Path, ...], prefix: str = "") -> Iterator[tuple[str, Path]]:
    """The members of a folder that lies in the folders ``within``, the outermost first."""
    try:
        found = sorted(folder.iterdir())
    except OSError as error:
        raise _unreadable(folder, error) from error
    for path in found:
        if not _is_text(path.name):
            raise InputError(f"The name of {str(path)!r} is not UTF-8, so it cannot be stored. Rename it.")
        if path.is_symlink():
            _check_link(path, within)
        if not path.is_dir() and not path.is_file():
            raise InputError(f"{path} is neither a file nor a folder, so it cannot be stored. Remove it from there.")
        yield prefix + path.name, path
        if path.is_dir():
            yield from _members(path, (*within, path.resolve()), f"{prefix}{path.name}/")


def _is_text(name: str) -> bool:
    """Whether the system's bytes of a name could be read as text."""
    return not any("\udc80" <= letter <= "\udcff" for letter in name)


def _check_link(path: Path, within: tuple[Path, ...]) -> None:
    """What a link leads to is stored in its place, so it has to lie in the folder, and not around the link."""
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):
        target = None
    if target is None or not target.is_relative_to(within[0]):
        raise InputError(
            f"{path} is a link that leads out of its folder, or nowhere, so it would mean nothing on another machine. "
            f"Copy the folder with its links followed (cp -rL {within[0]} COPY) and name the copy."
        )
    if target in within:
        raise InputError(f"{path} is a link to a folder that it lies in itself, which has no end. Remove the link.")


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path} cannot be read ({error.strerror or error}). Check the permissions of what lies there.")
