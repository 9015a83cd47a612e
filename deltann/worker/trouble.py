"""Tells trouble of this machine or of the store from a finding: it says nothing about a model, so it is never a result.

Handlers turn whatever a framework raises into a :class:`deltann.errors.JobFailure`. What they caught on the way hangs
on that failure as its cause or context, so the worker looks along that chain, in this one place, for every service.
"""

from __future__ import annotations

import errno
import os
import socket
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from deltann.errors import CorruptArtifactError, WorkError, WrongDeviceError

_FULL = (errno.ENOSPC, errno.EDQUOT)
_ADVICE = {
    errno.EFBIG: "Raise this worker's limit on the size of files (ulimit -f) and run it again.",
    errno.EMFILE: "Raise this worker's limit on open files (ulimit -n) and run it again.",
    errno.ENFILE: "Close files on this host, or raise its limit, and run it again.",
    errno.EROFS: "Make the file system of this worker writable and run it again.",
    errno.EIO: "Check the disk of this worker and run it again.",
    errno.ESTALE: "Mount the file system of this worker anew and run it again.",
}
_UNREACHABLE = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)
_OF_THE_MOMENT = (CorruptArtifactError, WrongDeviceError, MemoryError, ConnectionError, TimeoutError, socket.gaierror)
_ROOM = 1 << 20
"""Bytes that a disk which is not full has room for."""
_SCARCE = 0.03
"""Share of the host's memory below which whoever asks for more is refused through no fault of theirs."""


def chain(error: BaseException) -> Iterator[BaseException]:
    """An error and everything that it was raised from or while handling, each once, the outermost first."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions


def trouble_of(error: BaseException, folders: Iterable[Path] = ()) -> str | None:
    """What went wrong with the machine or the store, in a paragraph; None where the error is a finding.

    Args:
        error: of a handler.
        folders: where the handler wrote. Native code that finds a disk full often says something else about it, so a
            job that failed while one of these takes nothing more counts as stopped by that.
    """
    for one in chain(error):
        told = _trouble(one)
        if told is not None:
            return told
    return full_disk(folders)


def _trouble(error: BaseException) -> str | None:
    if isinstance(error, WorkError) and not isinstance(error, CorruptArtifactError):
        return str(error)
    number = error.errno if isinstance(error, OSError) else None
    if number in _FULL or says_full(str(error)):
        return f"The disk of this worker is full: {_line(error)}. Free some space and run it again."
    if number in _ADVICE:
        return f"This worker could not read or write a file: {_line(error)}. {_ADVICE[number]}"
    if isinstance(error, MemoryError) or number == errno.ENOMEM:
        memory = psutil.virtual_memory()
        if memory.available < _SCARCE * memory.total:
            return (
                f"This worker's host is out of memory ({memory.available >> 20} MiB of {memory.total >> 20} MiB are "
                "available). Stop what else runs there, or run fewer workers on it, and run it again."
            )
    return None


def passing(error: BaseException) -> bool:
    """Whether a failure says more about the moment than about the job, and so must not be used again.

    That is so for an artifact with wrong bytes, for memory that was refused, for a network that was not there, and for
    a module on the wrong device.
    """
    return any(
        isinstance(one, _OF_THE_MOMENT) or (isinstance(one, OSError) and one.errno in (errno.ENOMEM, *_UNREACHABLE))
        for one in chain(error)
    )


def says_full(text: str) -> bool:
    """Whether a text, of a linker for instance, says that a disk is full."""
    return any(os.strerror(number) in text for number in _FULL)


def full_disk(folders: Iterable[Path]) -> str | None:
    """Which of these folders, or of the folder for temporary files, takes nothing more, in a paragraph."""
    for folder in (*folders, Path(tempfile.gettempdir())):
        try:
            with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
                written = 0
                while written < _ROOM:
                    written += file.write(bytes(_ROOM - written))
        except OSError as error:
            if error.errno in _FULL:
                return f"The disk of this worker is full ({folder}). Free some space and run it again."
    return None


def _line(error: BaseException) -> str:
    """The line of an error that names a full disk, else its first, without its full stop."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = next((line for line in lines if says_full(line)), lines[0] if lines else type(error).__name__)
    return told[:300].rstrip(".")
