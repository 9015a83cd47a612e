"""TFLite: every table, vector and string of the model lies within the file.

A flatbuffer states no length. It is written from its end to its beginning, so what is cut off may be anything: only a
walk over all of it tells.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass, field
from pathlib import Path

from deltann.modelfile.damage import Damaged, mapped


@dataclass(frozen=True)
class _Table:
    """A table's fields by their number: vectors by the width of an element, strings, and tables."""

    vectors: dict[int, int] = field(default_factory=dict)
    tables: dict[int, _Table] = field(default_factory=dict)
    table_vectors: dict[int, _Table] = field(default_factory=dict)


_STRING = 1
_QUANTISATION = _Table(vectors={0: 4, 1: 4, 2: 4, 3: 8})
_TENSOR = _Table(vectors={0: 4, 3: _STRING, 7: 4}, tables={4: _QUANTISATION})
_OPERATOR = _Table(vectors={1: 4, 2: 4, 5: 1, 8: 4}, tables={4: _Table(), 12: _Table()})  # the options, of any type
_SUBGRAPH = _Table(vectors={1: 4, 2: 4, 4: _STRING}, table_vectors={0: _TENSOR, 3: _OPERATOR})
_MODEL = _Table(
    vectors={3: _STRING, 5: 4},
    table_vectors={
        1: _Table(vectors={1: _STRING}),  # operator codes
        2: _SUBGRAPH,
        4: _Table(vectors={0: 1}),  # buffers
        6: _Table(vectors={0: _STRING}),  # metadata
    },
)
_NEEDED = {1: "operator codes", 2: "graphs", 4: "buffers"}


def check(path: Path) -> None:
    """Walk a .tflite file.

    Raises:
        Damaged: where something lies outside the file.
    """
    data = mapped(path)
    walk = _Walk(data)
    try:
        (root,) = struct.unpack_from("<I", data, 0)
        fields = _fields(data, root)
        for number, what in _NEEDED.items():
            if number not in fields:
                raise Damaged(f"a damaged .tflite file: it has no {what}")
        walk.table(root, _MODEL)
    except (struct.error, IndexError) as error:
        raise Damaged("a truncated .tflite file: parts of it lie beyond its end") from error


def _fields(data: mmap.mmap, table: int) -> dict[int, int]:
    """Where the fields of a table lie, by number."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    if vtable < 0:
        raise IndexError
    size, inline = struct.unpack_from("<HH", data, vtable)
    if size < 4 or vtable + size > len(data) or table + inline > len(data):
        raise IndexError
    offsets = struct.unpack_from(f"<{size // 2 - 2}H", data, vtable + 4)
    return {number: table + offset for number, offset in enumerate(offsets) if offset}


class _Walk:
    """Through every table. Each is led to from four bytes of its own; where there are more, tables are shared so as to
    make the walk endless.
    """

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._left = len(data) // 4

    def table(self, table: int, kind: _Table) -> None:
        self._left -= 1
        if self._left < 0:
            raise Damaged("a damaged .tflite file: its parts lie in one another")
        for number, place in _fields(self._data, table).items():
            if (width := kind.vectors.get(number)) is not None:
                _vector(self._data, place, width)
            elif (inner := kind.tables.get(number)) is not None:
                self.table(_target(self._data, place), inner)
            elif (element := kind.table_vectors.get(number)) is not None:
                start, count = _vector(self._data, place, 4)
                for index in range(count):
                    self.table(_target(self._data, start + 4 * index), element)


def _target(data: mmap.mmap, place: int) -> int:
    return place + int(struct.unpack_from("<I", data, place)[0])


def _vector(data: mmap.mmap, place: int, width: int) -> tuple[int, int]:
    """First element and number of elements."""
    start = _target(data, place)
    (count,) = struct.unpack_from("<I", data, start)
    if start + 4 + count * width > len(data):
        raise IndexError
    return start + 4, count
