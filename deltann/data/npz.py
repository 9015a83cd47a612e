"""Arrays out of an ``.npz`` that somebody gives, in bounded memory: what it declares is looked at before it is read."""

from __future__ import annotations

import lzma
import math
import tokenize
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any

import numpy as np
import psutil
from numpy.typing import NDArray

from deltann.errors import DataError, first_line

Array = NDArray[Any]

MOST_BYTES = 8 << 30
"""What the arrays of one file may take in memory, all together; less where the machine has less."""

_SAVED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How ``np.savez`` and ``np.savez_compressed`` write. Other methods unpack with memory that nothing declares."""
_LONGEST_HEADER = 10_000
_TROUBLE = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    RuntimeError,
    MemoryError,
    OverflowError,
    RecursionError,
    SyntaxError,
    TypeError,
    lzma.LZMAError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What NumPy and ``zipfile`` raise for damaged bytes."""


def read_npz(path: Path, name: str, wanted: Collection[str]) -> dict[str, Array]:
    """Those of the wanted arrays that an ``.npz`` has.

    An archive of a few kilobytes can declare arrays of many gigabytes. So the sizes in the archive's directory and in
    the arrays' own headers are added up and held against each other first, and nothing is read that does not fit.

    Args:
        path: where it lies.
        name: how the person knows it, for the message.
        wanted: names of arrays.

    Raises:
        DataError: for a file that is no ``.npz``, is damaged, holds Python objects, or is too large for this machine.
    """
    try:
        if not zipfile.is_zipfile(path):
            raise DataError(f"{name} is no .npz file, or is truncated. Save or copy it again (np.savez).")
        with zipfile.ZipFile(path) as archive:
            there = set(archive.namelist())
            members = {one: archive.getinfo(f"{one}.npy") for one in wanted if f"{one}.npy" in there}
            _check_room(sum(member.file_size for member in members.values()), name)
            for array, member in members.items():
                if member.compress_type not in _SAVED:
                    raise ValueError(f"its array {array} is compressed as NumPy does not do it")
            return {array: _read(archive, member, name) for array, member in members.items()}
    except _TROUBLE as error:
        raise DataError(f"{name} is a damaged .npz file ({first_line(error)}). Save or copy it again.") from error


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> Array:
    with archive.open(member) as file:
        shape, dtype = _header(file)
        if dtype.hasobject:
            raise DataError(
                f"{name} holds arrays of Python objects. Reading those runs whatever code is in them, so DeltaNN does "
                "not. Save arrays of numbers; inputs of one shape make one array (np.stack)."
            )
        declared, there = math.prod(shape) * dtype.itemsize, member.file_size - file.tell()
        if declared != there:
            raise ValueError(f"{member.filename} declares {declared} bytes of data and has {there}")
        file.seek(0)
        array: Array = np.lib.format.read_array(file, allow_pickle=False, max_header_size=_LONGEST_HEADER)
        return array


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type as an array's header declares them."""
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(file, max_header_size=_LONGEST_HEADER)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(file, max_header_size=_LONGEST_HEADER)
    else:
        raise ValueError(f"an array is of version {version[0]}.{version[1]}, which arrays of numbers are not")
    return shape, dtype


def _check_room(declared: int, name: str) -> None:
    most = min(MOST_BYTES, psutil.virtual_memory().available)
    if declared > most:
        raise DataError(
            f"The arrays in {name} take {declared / 2**30:.1f} GiB of memory, and at most {most / 2**30:.1f} GiB can "
            "be read here. Split the file into smaller ones; if it should not hold so much, it was made to fill memory."
        )
