"""The wire format of protobuf, without a schema's classes: fields by number, and where they lie."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from deltann.modelfile.damage import Damaged, mapped

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_WIDTH = {FIXED64: 8, FIXED32: 4}


class Field(NamedTuple):
    """One field: its number and wire type, where its bytes lie, and the value of a varint."""

    number: int
    wire: int
    start: int
    stop: int
    value: int = 0


def fields(data: mmap.mmap, start: int, stop: int) -> Iterator[Field]:
    """The fields of the message that lies between two places.

    Raises:
        Damaged: where a field does not end within the message, or is none.
    """
    at = start
    while at < stop:
        tag, at = _varint(data, at, stop)
        number, wire = tag >> 3, tag & 7
        value = 0
        if wire == VARINT:
            begin = at
            value, end = _varint(data, at, stop)
        elif wire == BYTES:
            length, begin = _varint(data, at, stop)
            end = begin + length
        elif wire in _WIDTH:
            begin, end = at, at + _WIDTH[wire]
        else:
            raise Damaged(f"damaged, or of another format, at byte {at}")
        if number == 0:
            raise Damaged(f"damaged, or of another format, at byte {at}")
        if end > stop:
            raise Damaged(f"truncated: it has {stop} bytes where at least {end} are needed")
        yield Field(number, wire, begin, end, value)
        at = end


def whole(data: mmap.mmap, known: dict[int, int]) -> set[int]:
    """The numbers of the fields of a whole file, all of which have to be known with that wire type.

    Raises:
        Damaged: for a file that ends too early or has other fields.
    """
    found = set()
    for field in fields(data, 0, len(data)):
        if known.get(field.number) != field.wire:
            raise Damaged(f"damaged, or of another format: it has an unknown field before byte {field.stop}")
        found.add(field.number)
    return found


def _varint(data: mmap.mmap, at: int, stop: int) -> tuple[int, int]:
    """A varint's value and where it ends."""
    value = shift = 0
    while at < stop and shift < 70:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise Damaged(f"truncated or damaged at byte {at}")


def read_part(path: Path, known: dict[int, int], of: str, otherwise: str = "") -> tuple[mmap.mmap, set[int]]:
    """A file of a model's folder, and the numbers of its fields, as :func:`whole` finds them.

    Args:
        path: of the file.
        known: wire types by number.
        of: what the folder is.
        otherwise: what else may be wrong with a file that is not whole.

    Raises:
        Damaged: for a file that is empty, or not whole.
    """
    if not path.stat().st_size:
        raise Damaged(f"{of} whose {path.name} is empty")
    data = mapped(path)
    try:
        return data, whole(data, known)
    except Damaged as damaged:
        raise Damaged(f"{of} whose {path.name} is {damaged}{otherwise}") from damaged
