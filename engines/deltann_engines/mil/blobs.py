"""Constants in a package's weight files.

A file begins with 64 bytes of header. An offset names 64 bytes of metadata, little-endian: a sentinel, the type, the
number of bytes and where they begin. After coremltools' ``MILBlob`` storage format, version 2.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from deltann.errors import ModelError

_METADATA = struct.Struct("<IIQQ")
_SENTINEL = 0xDEADBEEF
_TYPES = {1: "<f2", 2: "<f4", 3: "|u1", 4: "|i1", 14: "<i4"}


def read(path: Path, offset: int, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """The constant at an offset, of the type and shape that the program declares.

    Raises:
        ModelError: where the file is not there, ends too early, or holds something else at that place.
    """
    if not path.is_file():
        raise _damaged(f"its program speaks of {path.name}, which is not there")
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(offset)
        head = file.read(_METADATA.size)
        if len(head) < _METADATA.size:
            raise _damaged(f"{path.name} has {size} bytes and ends before the constant at byte {offset}")
        sentinel, kind, length, start = _METADATA.unpack(head)
        if sentinel != _SENTINEL or kind not in _TYPES:
            raise _damaged(f"{path.name} has no constant at byte {offset}, where the program looks for one")
        if start + length > size:
            raise _damaged(f"{path.name} has {size} bytes where at least {start + length} are needed")
        stored = np.dtype(_TYPES[kind])
        count = int(np.prod(shape, dtype=np.int64))
        if stored != np.dtype(dtype) or count * stored.itemsize != length:
            raise _damaged(
                f"at byte {offset} of {path.name} lie {length} bytes of {stored.name}, and the program declares "
                f"{dtype}{list(shape)}"
            )
        file.seek(start)
        return np.frombuffer(file.read(length), stored).reshape(shape)


def _damaged(why: str) -> ModelError:
    return ModelError(f"The CoreML package is damaged: {why}. Convert the model again, or copy the whole folder.")
