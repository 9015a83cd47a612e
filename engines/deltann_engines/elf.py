"""What a shared library says of itself: the processor it is for, whether the file is whole, and a named section."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
"""Values of ``e_machine`` by the names that ``uname -m`` has for them."""
_AFTER_IDENTITY = {1: "HHIIIIIHHHHHH", 2: "HHIQQQIHHHHHH"}
"""Fields of the header behind ``e_ident`` for 32 and 64 bits, from ``e_type`` to ``e_shstrndx``."""
_SECTION = {1: "IIIIII", 2: "IIQQQQ"}
"""Fields of a section's header for 32 and 64 bits, from ``sh_name`` to ``sh_size``."""


@dataclass(frozen=True)
class Header:
    """``machine`` is None for a processor that has no name here; ``whole`` is False for a file that was cut short."""

    machine: str | None
    whole: bool


@dataclass(frozen=True)
class _Table:
    """Where the headers of sections are, how long each is, how many there are, and which one holds their names."""

    machine: str | None
    offset: int
    size: int
    count: int
    names: int
    order: str
    bits: int

    @property
    def end(self) -> int:
        return self.offset + self.size * self.count


def read(path: Path) -> Header | None:
    """The header of an ELF file, or None for a file of another kind.

    The table of sections is the last thing that linkers write: a file that ends before it was truncated.
    """
    with path.open("rb") as file:
        head = file.read(64)
    found = _table(head)
    if isinstance(found, _Table):
        return Header(found.machine, whole=path.stat().st_size >= found.end)
    return Header(None, whole=False) if found else None


def section(path: Path, name: str) -> bytes | None:
    """The bytes of a section of a whole ELF file; None where it has no such section."""
    with path.open("rb") as file:
        table = _table(file.read(64))
        if not isinstance(table, _Table):
            return None
        layout = struct.Struct(table.order + _SECTION[table.bits])
        file.seek(table.offset)
        headers = file.read(table.end - table.offset)
        if len(headers) < table.end - table.offset or table.size < layout.size or table.names >= table.count:
            return None
        sections = [layout.unpack_from(headers, index * table.size) for index in range(table.count)]

        def content(of: tuple[int, ...]) -> bytes:
            file.seek(of[4])
            return file.read(of[5])

        names = content(sections[table.names])
        for one in sections:
            if names[one[0] :].partition(b"\0")[0] == name.encode():
                return content(one)
    return None


def _table(head: bytes) -> _Table | bool:
    """What the first 64 bytes of a file tell; True for an ELF file that ends within its header, False for no ELF."""
    fields = _AFTER_IDENTITY.get(head[4]) if len(head) > 16 and head[:4] == b"\x7fELF" else None
    if fields is None:
        return False
    order = "<" if head[5] == 1 else ">"
    layout = struct.Struct(order + fields)
    if len(head) < 16 + layout.size:
        return True
    _, machine, _, _, _, offset, _, _, _, _, size, count, names = layout.unpack_from(head, 16)
    return _Table(_MACHINES.get(machine), offset, size, count, names, order, head[4])
